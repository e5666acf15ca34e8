const perSecond = 1000

let cachedSecond = Number.NaN
let cachedPrefix = ''

/** Returns the time in ISO 8601 with milliseconds, in UTC. Formats the date only once a second, because that is slow. */
export function isoTime(milliseconds: number = Date.now()): string {
  const current = Math.floor(milliseconds / perSecond)
  if (current !== cachedSecond) {
    cachedSecond = current
    cachedPrefix = new Date(current * perSecond).toISOString().slice(0, -'000Z'.length)
  }
  return `${cachedPrefix}${String(milliseconds - current * perSecond).padStart(3, '0')}Z`
}
