import { parseTime } from '@grantry/core'

/**
 * Placeholders that deployment tools replace in a text: `${NAME}`, `$(env:NAME)`, `##NAME##`, `@@NAME@@`, `#{NAME}`,
 * `{{ NAME }}`, `<%= NAME %>`. Each is bounded, so that a long text takes no longer than its length.
 */
const inText =
  /\$\{[^}]{0,200}\}|\$\([^)]{0,200}\)|\$\[[^\]]{0,200}\]|#\{[^}]{0,200}\}|\{\{[^}]{0,200}\}\}|<%.{0,200}%>|##\w[\w.-]{0,200}##|@@\w[\w.-]{0,200}@@/u

/** Characters that are read: a longer text is no name. */
const maxLength = 4096

/**
 * Placeholders for a whole text: `$NAME`, `%NAME%`, `__NAME__`, `<name>`, `((name))`, `[[name]]`, `%(NAME)s`, `@NAME@`,
 * `env:NAME`, `ENC(...)`, the URL of a vault, a tag of YAML, a mask.
 */
const whole =
  /^(?:\$(?:env:)?[A-Za-z_]\w*|%[\w.-]+%|__[\w.-]+__|<[\w .:-]+>|\[[\w .:-]+\]|\{[\w .:-]+\}.*|(?:env|vault|secret|file|ref|op|arn)[:+].*|ENC[([].*|@Microsoft\..*|[a-z][a-z\d+.-]{1,30}:\/.*|![a-z]+(?:\s.*)?|(.)\1*)$/isu

/**
 * References with which tools find a value: `vault:…`, `sops:…`, `k8s:…`, `env.NAME`, `getenv(…)`, `%env(NAME)%`,
 * `$__file{…}`, `#ENV[NAME]`, a file, a secret of a cloud; or how they have encrypted it.
 */
const reference =
  /^(?:(?:[\w-]{0,20}vault|enc|env|sops|kms|ssm|k8s|secret[-_]?ref|azure-kv|gcp-?sm)[:.].*|\$ANSIBLE_VAULT;.*|\$__\w{1,20}\{.*|%[\w.:()-]{1,200}%|#?ENV\[.*|\/(?:run|var|etc|mnt|secrets?)\/.*|projects\/[^/]{1,100}\/secrets\/.*|[\w.]{0,40}getenv\(.*)$/isu

/** A name without digits between signs, which differ for each tool. */
const betweenSigns = /^[$%&~!@#<«⟨([{]{1,3}[a-z_][a-z_ .:/-]{0,100}[$%&;@#>»⟩)\]}/]{1,3}s?$/iu

/** Words that people write, or programs print, instead of a secret, and names of variables. */
const words =
  /^(?:none|null|nil|undefined|hidden|masked|removed|redacted|todo|tbd|secret|password|n\/a|placeholder|dummy|example|to[-_ ]be[-_ ](?:set|defined|filled|replaced)|(?:change|replace|set|fill)[-_ ]?(?:me|it|this)(?:[-_ ]?(?:please|now|in|\d{1,6}))?|(?:todo|tbd|fixme)\W.{0,100}|your[-_ ].{0,100}|(?:process\.env|os\.environ)\W.{0,100}|ENV\[.{0,100})$/iu
const invisible = /\p{Default_Ignorable_Code_Point}/gu
const variable = /^[A-Z]+(?:_[A-Z]+)+$/u

/**
 * Whether a text stands for a value that a tool fills in, or hides it. As a secret, it would be known to each reader of the
 * export, and to each reader of the documentation of the tool.
 */
export const isPlaceholder = (text: string): boolean => {
  // Compatible forms: another width of a sign is the same for people, and for some tools.
  const trimmed = text.slice(0, maxLength).replaceAll(invisible, '').normalize('NFKC').trim()
  return (
    trimmed === '' ||
    hasPlaceholder(trimmed) ||
    [whole, reference, betweenSigns, words, variable].some((form) => form.test(trimmed))
  )
}

/** Whether a text contains a placeholder. */
export const hasPlaceholder = (text: string): boolean => inText.test(text)

/** The JSON of older serializers of .NET: milliseconds since the epoch. The offset is for display. */
const dotNetDate = /^\/Date\((-?\d{1,15})(?:[+-]\d{4})?\)\/$/u

/**
 * Returns an expiry of an export in epoch seconds; `undefined` without one, and `NaN` if it cannot be read: the caller
 * must then leave the entry out. A time without a zone is UTC, as the servers that write it compare it.
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
