import { type ClientOptions, isJsonObject } from '@grantry/core'
import { areEqual, canonical, type Members } from '../differences.ts'
import type { EntryType } from '../entry-type.ts'
import { endsOf } from '../former-secrets.ts'
import { withoutHashes } from '../secrets.ts'

/**
 * Members that do not affect the decision about a request, or only the lifetime of what is issued.
 * `test/administration/takes-away` has a row for each declared member.
 */
const harmless: ReadonlySet<string> = new Set([
  'clientId',
  'enabled',
  'clientName',
  'clientColor',
  'clientUri',
  'logoUri',
  'policyUri',
  'tosUri',
  'contacts',
  'initiateLoginUri',
  'accessTokenFormat',
  'accessTokenLifetime',
  'identityTokenLifetime',
  'identityTokenAlgorithm',
  'authorizationCodeLifetime',
  'userClaimsInIdentityToken',
  'refreshToken',
])

/** Whether a secret was removed, or has ended. A secret with a later end does not count. */
function losesSecret(before: ClientOptions, after: ClientOptions, now: number): boolean {
  const ends = endsOf(after)
  return [...endsOf(before)].some(([name, end]) => end > now && (ends.get(name) ?? 0) <= now)
}

/** Returns the items of a list, or of a set of keys. `undefined` for anything else. */
function itemsOf(value: unknown): readonly unknown[] | undefined {
  if (value === undefined || value === null) return []
  const list = isJsonObject(value) ? value.keys : value
  return Array.isArray(list) ? list : undefined
}

function losesItem(before: unknown, after: unknown): boolean {
  const [had, has] = [itemsOf(before), itemsOf(after)]
  if (had === undefined || has === undefined) return true
  const kept = new Set(has.map(canonical))
  return had.some((item) => !kept.has(canonical(item)))
}

/**
 * Whether a change of a member can take a right away. A member that is no list always can: `true` can be a demand or a
 * permission.
 */
function narrows(name: string, before: unknown, after: unknown): boolean {
  if (harmless.has(name) || areEqual(before, after, false)) return false
  // An empty list allows any.
  if (name === 'identityProviders') return true
  return losesItem(before, after)
}

/**
 * Whether a change of a client takes away a secret, a key or a right, or adds a demand. Other processes must then no
 * longer decide by the client that they remember.
 *
 * @param now milliseconds since the epoch
 */
export function takesAway(before: ClientOptions, after: ClientOptions, now: number): boolean {
  const [had, has] = [before, after] as unknown as readonly [Members, Members]
  const names = [...new Set([...Object.keys(had), ...Object.keys(has)])].filter((name) => name !== 'secrets')
  return losesSecret(before, after, now / 1000) || names.some((name) => narrows(name, had[name], has[name]))
}

/** The checked members of a client in a configuration, in the storage, or of the provider. */
interface CheckedMembers {
  readonly clientId: string
  readonly enabled?: boolean | undefined
  readonly grantTypes?: readonly string[] | undefined
  readonly scopes?: readonly string[] | undefined
}

/** Grant types whose requests need a scope. Others, as those of plugins, may return no access token. */
const needScopes: readonly string[] = [
  'client_credentials',
  'password',
  'authorization_code',
  'urn:ietf:params:oauth:grant-type:device_code',
]

/**
 * Returns what an allowed client lacks to be of use, one sentence each; none if the client is disabled. The check of a
 * configuration, the commands, the admin API and the console report the same.
 */
export function clientGaps({ clientId, enabled, grantTypes = [], scopes = [] }: CheckedMembers): readonly string[] {
  if (enabled === false) return []
  if (grantTypes.length === 0) return [`${clientId} has no grant type, so it cannot get a token; add one to grantTypes`]
  if (grantTypes.every((grantType) => grantType === 'refresh_token'))
    return [`${clientId} has only refresh_token, so it never gets the first token; add a grant type that issues one`]
  return scopes.length === 0 && grantTypes.some((grantType) => needScopes.includes(grantType))
    ? [`${clientId} has no scope, so it cannot get a token; add one to scopes`]
    : []
}

export const clientType: EntryType<ClientOptions> = {
  kind: 'client',
  noun: 'client',
  idMember: 'clientId',
  switch: 'enabled',
  isEnabled: ({ enabled }) => enabled !== false,
  formerKind: 'former-client',
  revocation: (clientId) => ({ clientId }),
  takesAway,
  gaps: clientGaps,
  shown: withoutHashes,
}
