import { parseTime } from '@grantry/core'

/**
 * What tools for deployments replace in a text: `${NAME}`, `$(env:NAME)`, `##NAME##`, `@@NAME@@`, `#{NAME}`, `{{ NAME }}`,
 * `<%= NAME %>`. Each is bounded, so that a long text takes no longer than its length.
 */
const inText =
  /\$\{[^}]{0,200}\}|\$\([^)]{0,200}\)|\$\[[^\]]{0,200}\]|#\{[^}]{0,200}\}|\{\{[^}]{0,200}\}\}|<%.{0,200}%>|##\w[\w.-]{0,200}##|@@\w[\w.-]{0,200}@@/u

/** What stands for a whole text: `$NAME`, `%NAME%`, `__NAME__`, `<name>`, `[name]`, `env:NAME`, `ENC(...)`, a mask. */
const whole =
  /^(?:\$(?:env:)?[A-Za-z_]\w*|%[\w.-]+%|__[\w.-]+__|<[\w .:-]+>|\[[\w .:-]+\]|\{[\w .:-]+\}.*|(?:env|vault|secret|file|ref|op)[:+].*|ENC[([].*|@Microsoft\..*|(.)\1*)$/isu

/**
 * Whether a text stands for a value that a tool fills in, or hides it. As a secret, it would be known to each reader of the
 * export, and to each reader of the documentation of the tool.
 */
export const isPlaceholder = (text: string): boolean => {
  const trimmed = text.trim()
  return trimmed === '' || hasPlaceholder(trimmed) || whole.test(trimmed)
}

/** Whether a part of a text is one that a tool fills in. */
export const hasPlaceholder = (text: string): boolean => inText.test(text)

/** The JSON of older serializers of .NET: milliseconds since the epoch. The offset is for display. */
const dotNetDate = /^\/Date\((-?\d{1,15})(?:[+-]\d{4})?\)\/$/u

/**
 * Returns the end of something in an export, in epoch seconds; `undefined` if it has none, and `NaN` if it cannot be read:
 * what has it must be left out. A time without a zone is UTC, as the servers that write it compare it.
 */
export function exportedEnd(value: unknown): number | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'string') return Number.NaN
  const [, milliseconds] = dotNetDate.exec(value) ?? []
  const time = milliseconds === undefined ? (parseTime(value) ?? parseTime(`${value}Z`)) : Number(milliseconds)
  return time === undefined ? Number.NaN : Math.floor(time / 1000)
}

/** Returns the end in epoch seconds, of which 0 and the absence stand for none; `NaN` for anything else, as milliseconds. */
export function secondsEnd(value: unknown): number | undefined {
  if (value === undefined || value === null || value === 0 || value === '0') return undefined
  const seconds = typeof value === 'string' && /^\d{1,12}$/u.test(value) ? Number(value) : value
  const isTime = typeof seconds === 'number' && Number.isInteger(seconds) && seconds > 0 && seconds < 253_402_300_800
  return isTime ? seconds : Number.NaN
}
