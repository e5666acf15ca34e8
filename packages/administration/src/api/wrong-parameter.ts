import type * as v from 'valibot'

type Issue = v.BaseIssue<unknown>

/** What a value of a type must be. */
const types: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  record: 'an object',
}

/** Returns what a bound asks for; `undefined` if the issue is no bound. */
function boundOf({ type, ...issue }: Issue): string | undefined {
  const { requirement } = issue as { readonly requirement?: unknown }
  if (type === 'min_value') return `must be at least ${requirement}`
  if (type === 'max_value') return `must be at most ${requirement}`
  if (type === 'min_length' && requirement === 1) return 'must not be empty'
  if (type === 'min_length') return `must have at least ${requirement} characters`
  if (type === 'max_length') return `must have at most ${requirement} characters`
  return undefined
}

/** Says what is wrong with a parameter, in words that do not contain its value. */
export function wrongParameter(issue: Issue): string {
  const { type, kind, expected, received, message } = issue
  if (type === 'strict_object' && expected === 'never') return 'is unknown'
  if (received === 'undefined') return 'is required'
  // A message of the schema itself. Those of the library contain the value.
  if (message.startsWith('must ')) return message
  const word = types[type]
  if (word !== undefined) return `must be ${word}`
  if (kind === 'schema' && type === 'picklist')
    return `must be ${String(expected).slice(1, -1).replaceAll(' | ', ' or ')}`
  return boundOf(issue) ?? 'is malformed'
}
