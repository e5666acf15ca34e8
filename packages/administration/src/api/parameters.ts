import type { Kit } from '@grantry/core'
import * as v from 'valibot'
import type { Operation } from './operation.ts'
import { wrong } from './refusals.ts'

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
function wrongParameter(issue: Issue): string {
  const { type, kind, expected, received, message } = issue
  if (type === 'strict_object' && expected === 'never') return 'is unknown'
  if (received === 'undefined') return 'is required'
  // A message of the schema itself. Messages of the library contain the value.
  if (message.startsWith('must ')) return message
  const word = types[type]
  if (word !== undefined) return `must be ${word}`
  if (kind === 'schema' && type === 'picklist')
    return `must be ${String(expected).slice(1, -1).replaceAll(' | ', ' or ')}`
  return boundOf(issue) ?? 'is malformed'
}

const part = (key: unknown, isFirst: boolean): string =>
  typeof key === 'number' ? `[${key}]` : `${isFirst ? '' : '.'}${String(key)}`

/** Returns the path of a member, such as `redirectUris[0]`. */
const pathOf = (path: readonly { readonly key: unknown }[] = []): string =>
  path.map(({ key }, index) => part(key, index === 0)).join('')

/**
 * Returns the parameters that an operation has declared.
 *
 * @throws OAuthError 400, with the path of the first wrong member
 */
export function parametersOf(
  { params: schema, method }: Operation,
  params: unknown,
  kit: Pick<Kit, 'refuse'>,
): unknown {
  const noun = method === 'GET' || method === 'DELETE' ? 'parameter' : 'member'
  const parsed = v.safeParse(schema, Object(params), { abortEarly: true })
  if (parsed.success) {
    // The schemas ignore `constructor` and `prototype`.
    const ignored = Object.keys(Object(params)).find((member) => !Object.hasOwn(Object(parsed.output), member))
    if (ignored === undefined) return parsed.output
    throw wrong(kit, `The ${noun} ${ignored} is unknown`, ignored)
  }
  const [issue] = parsed.issues
  const member = pathOf(issue.path as readonly { readonly key: unknown }[] | undefined)
  throw wrong(kit, `The ${noun} ${member.slice(0, 200)} ${wrongParameter(issue)}`, member.slice(0, 200))
}
