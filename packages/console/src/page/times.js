const relative = new Intl.RelativeTimeFormat('en', { numeric: 'always' })
const dateAndTime = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' })
const clock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' })

/** @type {readonly (readonly [unit: Intl.RelativeTimeFormatUnit, seconds: number])[]} */
const units = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
]

/**
 * `in 59 minutes`, `2 hours ago`.
 *
 * @param {number} seconds from now
 */
function fromNow(seconds) {
  if (Math.abs(seconds) < 1) return 'now'
  const [unit, length] = units.find(([, length]) => Math.abs(seconds) >= length) ?? ['second', 1]
  return relative.format(Math.trunc(seconds / length), unit)
}

/**
 * `21 Nov 2026, 16:34:10 (in 59 minutes)`.
 *
 * @param {number} epochSeconds
 */
export function describeTime(epochSeconds) {
  const date = new Date(epochSeconds * 1000)
  // An invalid time from a server must not break the page.
  if (Number.isNaN(date.getTime())) return String(epochSeconds)
  return `${dateAndTime.format(date)} (${fromNow(epochSeconds - Date.now() / 1000)})`
}

/** @param {number} epochSeconds */
export function clockTime(epochSeconds) {
  const date = new Date(epochSeconds * 1000)
  return Number.isNaN(date.getTime()) ? '' : clock.format(date)
}
