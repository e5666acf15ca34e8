/** A date, or a date and time with a zone. PostgreSQL writes the form with a space, and zones of two digits. */
const form = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)(Z|[+-]\d\d(?::?\d\d)?))?$/u

/** The end of the year 9999. A larger number is one of milliseconds, or stands for "never". */
const latest = 253_402_300_799

/** Returns a zone as `Date.parse()` reads it in each engine. */
const zoneOf = (zone: string): string =>
  zone === 'Z' ? zone : `${zone.slice(0, 3)}:${zone.slice(3).replace(':', '') || '00'}`

/**
 * Returns the time of an ISO 8601 date, which starts in UTC, or of a date and time with a zone, in milliseconds since
 * the epoch; `undefined` for anything else. Stricter than `Date.parse()`, which reads times without a zone in the
 * zone of the process, maps days that do not exist to others, and accepts many texts that are no times.
 */
export function parseTime(text: string): number | undefined {
  const [, date, time = '00:00', zone = 'Z'] = form.exec(text) ?? []
  if (date === undefined) return undefined
  const day = Date.parse(`${date}T00:00:00Z`)
  if (Number.isNaN(day) || !new Date(day).toISOString().startsWith(date)) return undefined
  const milliseconds = Date.parse(`${date}T${time}${zoneOf(zone)}`)
  return Number.isNaN(milliseconds) ? undefined : milliseconds
}

/**
 * Returns the epoch seconds of a time: the number itself, or that of a text that `parseTime()` reads; `undefined` for
 * anything else.
 */
export function epochSecondsOf(moment: unknown): number | undefined {
  if (typeof moment === 'number') return moment <= latest && moment >= -latest ? moment : undefined
  const milliseconds = typeof moment === 'string' ? parseTime(moment) : undefined
  return milliseconds === undefined ? undefined : Math.floor(milliseconds / 1000)
}
