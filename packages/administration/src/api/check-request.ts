import type { EndpointKit, Kit } from '@grantry/core'
import * as v from 'valibot'
import type { Managers } from '../managers.ts'
import type { AdminHost } from './host.ts'
import type { Method, Operation } from './operation.ts'
import { missing, wrong } from './refusals.ts'

/** Finds the operation of a request. */
export type Match = (
  method: string,
  segments: readonly string[],
  kit: Pick<Kit, 'refuse'>,
) => { readonly operation: Operation; readonly ids: readonly string[] }

interface Resource {
  /** `undefined` for each segment that can have any value. */
  readonly segments: readonly (string | undefined)[]
  readonly operations: Map<Method, Operation>
}

const patternOf = (path: string): Resource['segments'] =>
  path
    .split('/')
    .filter((segment) => segment !== '')
    .map((segment) => (segment.startsWith('{') ? undefined : segment))

/** Returns the segments of a path that the pattern leaves open; `undefined` if the path does not fit. */
function idsIn(pattern: Resource['segments'], segments: readonly string[]): readonly string[] | undefined {
  if (pattern.length !== segments.length) return undefined
  if (!pattern.every((expected, index) => expected === undefined || expected === segments[index])) return undefined
  return segments.filter((_, index) => pattern[index] === undefined)
}

/** Creates the table of the operations by their paths. @throws OAuthError 404 or 405, when a request has none. */
export function createMatch(operations: readonly Operation[]): Match {
  const resources = new Map<string, Resource>()
  for (const operation of operations) {
    const { path, method } = operation
    const resource = resources.get(path) ?? { segments: patternOf(path), operations: new Map() }
    resource.operations.set(method, operation)
    resources.set(path, resource)
  }
  return (method, segments, kit) => {
    for (const resource of resources.values()) {
      const ids = idsIn(resource.segments, segments)
      if (ids === undefined) continue
      const operation = resource.operations.get((method === 'HEAD' ? 'GET' : method) as Method)
      if (operation !== undefined) return { operation, ids }
      const allowed = [...resource.operations.keys()].flatMap((known) => (known === 'GET' ? ['GET', 'HEAD'] : [known]))
      throw kit.refuse('invalid_request', 'The method is not allowed for this resource', 'method_not_allowed', {
        status: 405,
        allow: allowed.join(', '),
      })
    }
    throw kit.refuse('invalid_request', 'There is no such resource', 'path_unknown', { status: 404 })
  }
}

type Issue = v.BaseIssue<unknown>

/** The texts for wrong types, such as `must be a string`. */
const types: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  record: 'an object',
}

/** Returns the text for a bound, such as a minimum; `undefined` if the issue is about something else. */
function boundOf({ type, ...issue }: Issue): string | undefined {
  const { requirement } = issue as { readonly requirement?: unknown }
  if (type === 'min_value') return `must be at least ${requirement}`
  if (type === 'max_value') return `must be at most ${requirement}`
  if (type === 'min_length' && requirement === 1) return 'must not be empty'
  if (type === 'min_length') return `must have at least ${requirement} characters`
  if (type === 'max_length') return `must have at most ${requirement} characters`
  return undefined
}

/** Returns what is wrong with a parameter. The text does not contain the value. */
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

interface Looked {
  readonly kit: EndpointKit
  readonly host: AdminHost
  readonly managers: Managers
}

/** Whether sessions or authorizations are left of a user who was removed elsewhere. They can still be ended. */
async function hasLeft(sub: string, { sessions, authorizations }: AdminHost): Promise<boolean> {
  if (((await sessions?.list(sub)) ?? []).length > 0) return true
  return ((await authorizations?.list(sub)) ?? []).length > 0
}

/** Compares the `sub` only: a name would bypass the protection of administrators, which compares subs. */
async function isUser(sub: string, { kit, host, managers: { users } }: Looked): Promise<boolean> {
  // Comes first, because it needs no user service, which may not respond.
  if (await hasLeft(sub, host)) return true
  if (host.users !== undefined) return (await host.users.find(sub)).some((user) => user.sub === sub)
  return (await users.has(sub)) || kit.isUserActive(sub)
}

/** Whether the client exists, or the id is a URL: it can be that of a client whose metadata document is gone. */
const isClient = async (id: string, { kit, managers: { clients } }: Looked): Promise<boolean> =>
  (await clients.has(id)) || URL.canParse(id) || (await kit.findClient(id)) !== undefined

/** Characters of the longest id that anything was issued to. */
const maxLength = 512

/**
 * Refuses a request about a user or a client that does not exist: after a typing mistake, a success would suggest that
 * something was ended, or that there is nothing to end.
 *
 * @throws OAuthError 404
 */
export async function assertKnown(
  { of = [] }: Pick<Operation, 'of'>,
  ids: readonly string[],
  looked: Looked,
): Promise<void> {
  for (const [index, named] of of.entries()) {
    const id = ids[index] ?? ''
    const isKnown = named === 'user' ? isUser : isClient
    if (id.length > maxLength || !(await isKnown(id, looked))) throw missing(looked.kit, `There is no such ${named}`)
  }
}
