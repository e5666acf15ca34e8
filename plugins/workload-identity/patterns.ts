import { isJsonObject } from '@grantry/core'
/** Claims that a rule compares with members of its own. */
export const ownMembers: Readonly<Record<string, string>> = {
  iss: 'issuer',
  aud: 'audience',
  sub: 'subject',
}

/** The members of a JSON pointer (RFC 6901). */
const segmentsOf = (pointer: string): readonly string[] =>
  pointer
    .slice(1)
    .split('/')
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'))

/** Returns an own member of an object; never one of an array or of a prototype. */
const memberOf = (value: unknown, name: string): unknown =>
  isJsonObject(value) && Object.hasOwn(value, name) ? (value as Readonly<Record<string, unknown>>)[name] : undefined

/** Returns a claim by its name or, if the name begins with `/`, by a JSON pointer. */
export const claimAt = (claims: object, name: string): unknown =>
  name.startsWith('/') ? segmentsOf(name).reduce(memberOf, claims as unknown) : memberOf(claims, name)

/** Returns a claim as text. Some platforms send ids as numbers. An object or array is no text, and matches nothing. */
const textOf = (value: unknown): string | undefined => {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  return typeof value === 'string' ? value : undefined
}

/** One pattern, or several of which one must match. */
export type Patterns = string | readonly string[]

export const patternsOf = (patterns: Patterns | undefined): readonly string[] =>
  typeof patterns === 'string' ? [patterns] : (patterns ?? [])

/** Returns what comes before the `*` at the end of a pattern; `undefined` for one that matches a single text. */
export const prefixOf = (pattern: string): string | undefined =>
  pattern.endsWith('*') ? pattern.slice(0, -1) : undefined

/** Whether a claim matches one of the patterns. A `*` stands for one or more characters. */
export function matches(patterns: Patterns, claim: unknown): boolean {
  const text = textOf(claim)
  if (text === undefined) return false
  return patternsOf(patterns).some((pattern) => {
    const prefix = prefixOf(pattern)
    return prefix === undefined ? text === pattern : text.length > prefix.length && text.startsWith(prefix)
  })
}

/**
 * Returns why a pattern is refused, if it is: a `*` anywhere but after a delimiter would match the names of others, such
 * as `acme-evil` for `acme*`.
 *
 * @param least the form of the text before the `*`; `undefined` for a claim that is only compared exactly
 */
export function patternProblem(pattern: string, least: RegExp | undefined): string | undefined {
  const prefix = prefixOf(pattern)
  if ((prefix ?? pattern).includes('*')) return 'can have a * only at its end'
  if (prefix === undefined) return undefined
  if (!/[/:]$/u.test(prefix)) return 'can have a * only after / or :, because other names can begin in the same way'
  if (least === undefined) return 'is a claim that is compared exactly: it cannot have a *'
  return least.test(prefix) ? undefined : 'has a * that covers too much: what comes before it must name the owner'
}
