const least = 30
const most = 86_400

const withinBounds = (seconds: number): number => Math.min(most, Math.max(least, Math.floor(seconds)))

/** Returns a number of seconds that a directive has, such as `max-age=300`. */
function secondsIn(directives: string, name: string): number | undefined {
  const [, digits] = new RegExp(`(?:^|[\\s,])${name}\\s*=\\s*"?(\\d{1,10})`, 'iu').exec(directives) ?? []
  return digits === undefined ? undefined : Number(digits)
}

/**
 * Returns the seconds for which a response can be used, from 30 seconds to a day: a document is read at each step of a
 * sign-in, and its owner must be able to replace it.
 *
 * @param now epoch seconds
 * @see RFC 9111 section 4.2
 */
export function lifetimeOf(headers: Headers, byDefault: number, now: number): number {
  const directives = headers.get('cache-control') ?? ''
  if (/(?:^|[\s,])no-(?:store|cache)/iu.test(directives)) return least
  const age = Number(/^\d{1,10}$/u.exec(headers.get('age') ?? '')?.[0] ?? 0)
  const maxAge = secondsIn(directives, 's-maxage') ?? secondsIn(directives, 'max-age')
  if (maxAge !== undefined) return withinBounds(maxAge - age)
  const expires = headers.get('expires')
  if (expires === null) return withinBounds(byDefault)
  // A date that cannot be read counts as past (RFC 9111 section 5.3). `Date.parse()` would read a date without a zone
  // in the zone of this process.
  const end = /^[\w, :-]{1,40} GMT$/u.test(expires) ? Date.parse(expires) : Number.NaN
  return Number.isNaN(end) ? least : withinBounds(end / 1000 - now)
}
