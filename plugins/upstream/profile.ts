import type { EndpointKit, Json } from '@grantry/core'
import { hostKey } from '@grantry/core'
import * as v from 'valibot'
import { keptRecord } from '../shared/kept-record.ts'
import type { UpstreamClaims } from './provider.ts'
import type { TokenKeeper } from './token-keeper.ts'
import type { Provider } from './upstream-options.ts'

/** A user who has signed in at another provider, and has no account elsewhere. */
export interface UpstreamUser {
  /** What the provider has stated about the user at the last sign-in. */
  readonly claims: Readonly<Record<string, Json>>
}

/** The users without an account elsewhere. A host answers `users.claims` and `users.isActive` with them. */
export interface UpstreamUsers {
  find(sub: string): Promise<UpstreamUser | undefined>
  /** Removes the stored user and the kept tokens. The next sign-in creates the user again. */
  remove(sub: string): Promise<void>
  /** Removes everything that is stored of a user who was removed, with the links to accounts at providers. */
  forget(sub: string): Promise<void>
}

/**
 * The key of the users who have signed in at other providers.
 *
 * @example
 * const user = await provider.use(upstreamUsers).find(sub)
 */
export const upstreamUsers = hostKey<UpstreamUsers>('upstream-users', 'upstream()')

/** OpenID Connect Core section 5.1, without the members that a user can only prove here. */
const standard = [
  'name',
  'given_name',
  'family_name',
  'middle_name',
  'nickname',
  'preferred_username',
  'profile',
  'picture',
  'website',
  'email',
  'email_verified',
  'locale',
  'zoneinfo',
] as const

/** Characters of one claim, and of all. */
const maxLength = { claim: 2000, all: 8192 }

/** Returns the claims that are kept: the standard ones, and those that the configuration names. */
export function profileOf(claims: UpstreamClaims, { claims: named }: Pick<Provider, 'claims'>): Record<string, Json> {
  const pairs = [...standard.map((name) => [name, name] as const), ...Object.entries(named)]
  const kept: Record<string, Json> = {}
  let length = 0
  for (const [name, theirs] of pairs) {
    const value = claims[theirs] as Json | undefined
    const size = value === undefined || value === null ? 0 : JSON.stringify(value).length
    if (value === undefined || size === 0 || size > maxLength.claim || length + size > maxLength.all) continue
    kept[name] = value
    length += size
  }
  return kept
}

const schema = v.object({
  claims: v.custom<Record<string, Json>>((value) => typeof value === 'object' && value !== null),
})

const keyOf = (sub: string): string => `upstream user:${sub}`

/** Seconds for which a user is known after the last sign-in: ten years. */
export const lifetime = 315_360_000

type RecordsKit = Pick<EndpointKit, 'records' | 'now'>

const find = (kit: RecordsKit, sub: string): Promise<UpstreamUser | undefined> => kit.records.get(keyOf(sub), schema)

/** Stores what a provider states about a user, if it has changed. */
export async function storeUser(kit: RecordsKit, sub: string, claims: Record<string, Json>): Promise<void> {
  const known = await find(kit, sub)
  if (known !== undefined && JSON.stringify(known.claims) === JSON.stringify(claims)) return
  await kit.records.put(keyOf(sub), { claims }, kit.now() + lifetime, keptRecord)
}

/** Whether the account at a provider is a user of its own here. */
export const isUpstreamUser = async (kit: RecordsKit, sub: string): Promise<boolean> =>
  (await find(kit, sub)) !== undefined

export const createUpstreamUsers = (
  kit: EndpointKit,
  keeper: Pick<TokenKeeper, 'remove'>,
): Pick<UpstreamUsers, 'find' | 'remove'> => ({
  find: (sub) => find(kit, sub),
  async remove(sub) {
    await Promise.all([keeper.remove(kit, sub), kit.records.delete(keyOf(sub))])
  },
})
