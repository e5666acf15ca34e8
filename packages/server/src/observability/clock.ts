const perSecond = 1000

let second = Number.NaN
let untilSecond = ''

/** Returns the time in ISO 8601 with milliseconds, in UTC. Formats the date only once a second, because that is slow. */
export function isoTime(milliseconds: number = Date.now()): string {
  const current = Math.floor(milliseconds / perSecond)
  if (current !== second) {
    second = current
    untilSecond = new Date(current * perSecond).toISOString().slice(0, -'000Z'.length)
  }
  return `${untilSecond}${String(milliseconds - current * perSecond).padStart(3, '0')}Z`
}
