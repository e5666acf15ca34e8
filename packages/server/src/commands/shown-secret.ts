import type { RotatedSecret } from '@grantry/administration'
import { type Command, InvalidArgumentError } from 'commander'

const unitSeconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 }

/** Parses a duration such as `7d` or `12h`. */
export function duration(text: string): number {
  const [, count, unit = ''] = /^(\d{1,6})([smhd])$/u.exec(text) ?? []
  const seconds = Number(count) * (unitSeconds[unit] ?? Number.NaN)
  if (Number.isNaN(seconds)) throw new InvalidArgumentError('It must be a number and s, m, h or d, such as 7d.')
  return seconds
}

/** Adds the option of commands that rotate a secret. Its value is in seconds. */
export const withOverlap = (command: Command): Command =>
  command.option('--overlap <time>', 'how long the earlier secrets work, such as 7d or 12h', duration, 0)

/** Returns the lines that show a new secret. */
export const shownSecret = (secret: string): string => `secret  ${secret}\nThis is the only time that it is shown.\n`

/** Returns the line of the configuration with which no backup brings the earlier secrets back. */
function refusal(replaced: readonly string[], overlap: number): string {
  if (replaced.length === 0) return ''
  const when = overlap > 0 ? 'after that time ' : ''
  return `If an earlier secret was compromised, ${when}add it to the configuration of every server: a restored backup would bring it back.
  "refusedSecrets": ${JSON.stringify(replaced)}\n`
}

/** Returns the lines that show a new secret, and until when the earlier ones work. */
export function shownRotation({ secret, replaced }: RotatedSecret, overlap: number): string {
  const end = new Date((Math.floor(Date.now() / 1000) + overlap) * 1000).toISOString()
  const old = overlap > 0 ? `the earlier secrets work until ${end}.` : 'then the earlier secrets no longer work.'
  return `${shownSecret(secret)}Running servers know it within 5 seconds; ${old}\n${refusal(replaced, overlap)}`
}
