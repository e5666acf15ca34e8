import { longestLifetime } from '../configuration.ts'
import { constantTimeEqual } from '../credentials/secret.ts'
import type { UserAuthentication } from '../credentials/user.ts'
import { utf8 } from '../encoding.ts'
import type { Trace } from '../events/trace.ts'
import type { JsonObject } from '../json.ts'
import type { AuthenticatedClient } from '../plugin/grant.ts'
import type { GrantCheck } from '../plugin/grant-check.ts'
import type { GrantKit, PluginRecords, StoredGrant } from '../plugin/grant-kit.ts'
import { createRedemption, type Redemption } from '../plugin/redemption.ts'
import { hashOf, keyOf } from '../records/keys.ts'
import type { Store } from '../records/store.ts'
import type { Runtime } from '../runtime.ts'
import type { AccessTokens } from './access-token.ts'
import type { StoredGrants } from './stored-grant.ts'
import { withUserOnly } from './token-user.ts'

/** The kit of a grant for one request, and what it has returned to the grant. */
export interface RequestKit {
  readonly kit: GrantKit
  /** The same kit for a grant check, with the check's own records. */
  kitOf(check: GrantCheck): GrantKit
  readonly found: readonly Redemption[]
  /** The claims of the access tokens that the kit has validated. */
  readonly validated: readonly JsonObject[]
}

/** The owner of records: a grant type or a grant check. The different lengths keep them apart. */
type Owner = readonly [grantType: string] | readonly [kind: 'grant-check', settles: string]

export type CreateGrantKit = (grantType: string, client: AuthenticatedClient, trace: Trace) => RequestKit

export function createGrantKits(deps: {
  readonly issuer: string
  readonly store: Store
  readonly storedGrants: StoredGrants
  readonly accessTokens: AccessTokens
  readonly authenticateUser: UserAuthentication
  readonly runtime: Runtime
}): CreateGrantKit {
  const { issuer, store, storedGrants, accessTokens, authenticateUser, runtime } = deps

  // The hash includes issuer and owner, so that a plugin cannot access the records of another plugin, or of another
  // provider on the same store.
  const hashIn = (owner: Owner, key: string): string => hashOf(JSON.stringify([issuer, ...owner, key]), runtime)

  /**
   * Checks that `expiresAt` is in the future. A duration passed by mistake would make a single-use credential usable
   * again immediately.
   */
  function momentOf(expiresAt: number): number {
    const now = runtime.now()
    if (Number.isFinite(expiresAt) && expiresAt > now && expiresAt <= now + longestLifetime) return expiresAt
    throw new TypeError(
      `expiresAt must be in epoch seconds and in the future, but is ${expiresAt}; use kit.now() plus a number of seconds`,
    )
  }

  function createRecords(owner: Owner): Pick<GrantKit, 'records' | 'redemption'> {
    const at = (key: string): string => keyOf('plugin', hashIn(owner, key))
    const records: PluginRecords = {
      get: async (key, schema) => store.get(at(key), schema),
      put: async (key, value, expiresAt) => store.put(at(key), value, momentOf(expiresAt)),
      insert: async (key, value, expiresAt) => store.insert(at(key), value, momentOf(expiresAt)),
      delete: async (key) => store.delete(at(key)),
    }
    return {
      records,
      redemption: (credential, expiresAt) =>
        createRedemption({ kind: 'plugin', hash: hashIn(owner, credential), expiresAt: momentOf(expiresAt) }),
    }
  }

  const byOwner = new Map<string, ReturnType<typeof createRecords>>()
  function recordsOf(owner: Owner): ReturnType<typeof createRecords> {
    const name = owner.join(' ')
    const known = byOwner.get(name)
    if (known !== undefined) return known
    const made = createRecords(owner)
    byOwner.set(name, made)
    return made
  }

  return (grantType, client, trace) => {
    const found: Redemption[] = []
    const validated: JsonObject[] = []
    const find = async (kind: 'code' | 'refresh', credential: string): Promise<StoredGrant | undefined> => {
      const stored = await storedGrants.redeemable(kind, credential)
      if (stored !== undefined) found.push(stored.redemption)
      return stored
    }
    const { records, redemption } = recordsOf([grantType])
    const kit: GrantKit = {
      now: runtime.now,
      sha256: (text) => runtime.base64url(runtime.sha256(utf8(text))),
      equals: (one, other) => constantTimeEqual(one, other),
      randomId: () => runtime.base64url(runtime.randomBytes(32)),
      records,
      redemption,
      findAuthorizationCode: (code) => find('code', code),
      findRefreshToken: (token) => find('refresh', token),
      authenticateUser: (credentials) => authenticateUser(credentials, client, trace),
      async validateAccessToken(token) {
        const validation = await accessTokens.validate(token)
        if (!validation.valid) return undefined
        validated.push(validation.claims)
        return withUserOnly(validation.claims)
      },
    }
    return { kit, kitOf: ({ settles }) => ({ ...kit, ...recordsOf(['grant-check', settles]) }), found, validated }
  }
}
