import { longestLifetime } from '../configuration.ts'
import { constantTimeEqual } from '../credentials/secret.ts'
import type { UserAuthentication } from '../credentials/user.ts'
import { utf8 } from '../encoding.ts'
import type { Trace } from '../events/trace.ts'
import type { JsonObject } from '../json.ts'
import type { AuthenticatedClient } from '../plugin/grant.ts'
import type { GrantKit, PluginRecords, StoredGrant } from '../plugin/grant-kit.ts'
import { createRedemption, type Redemption } from '../plugin/redemption.ts'
import { hashOf, keyOf } from '../records/keys.ts'
import type { Store } from '../records/store.ts'
import type { Runtime } from '../runtime.ts'
import type { AccessTokens } from './access-token.ts'
import type { StoredGrants } from './stored-grant.ts'

/** The kit of one plugin for one request, and the stored grants that it has handed out. */
export interface RequestKit {
  readonly kit: GrantKit
  readonly found: readonly Redemption[]
  /** The claims of access tokens that it has said to be valid. */
  readonly validated: readonly JsonObject[]
}

export type CreateGrantKit = (plugin: string, client: AuthenticatedClient, trace: Trace) => RequestKit

export function createGrantKits(deps: {
  readonly store: Store
  readonly storedGrants: StoredGrants
  readonly accessTokens: AccessTokens
  readonly authenticateUser: UserAuthentication
  readonly runtime: Runtime
}): CreateGrantKit {
  const { store, storedGrants, accessTokens, authenticateUser, runtime } = deps

  // The plugin's name goes into the hash: one plugin cannot name the record of another.
  const hashIn = (plugin: string, key: string): string => hashOf(JSON.stringify([plugin, key]), runtime)

  /** A duration in the place of a moment would make a single-use credential work again a moment later. */
  function momentOf(expiresAt: number): number {
    const now = runtime.now()
    if (Number.isFinite(expiresAt) && expiresAt > now && expiresAt <= now + longestLifetime) return expiresAt
    throw new TypeError(
      `expiresAt is in epoch seconds and ${expiresAt} is not to come; write kit.now() + a number of seconds`,
    )
  }

  const recordsByPlugin = new Map<string, PluginRecords>()
  function recordsOf(plugin: string): PluginRecords {
    const known = recordsByPlugin.get(plugin)
    if (known !== undefined) return known
    const at = (key: string): string => keyOf('plugin', hashIn(plugin, key))
    const records: PluginRecords = {
      get: async (key, schema) => store.get(at(key), schema),
      put: async (key, value, expiresAt) => store.put(at(key), value, momentOf(expiresAt)),
      insert: async (key, value, expiresAt) => store.insert(at(key), value, momentOf(expiresAt)),
      delete: async (key) => store.delete(at(key)),
    }
    recordsByPlugin.set(plugin, records)
    return records
  }

  return (plugin, client, trace) => {
    const found: Redemption[] = []
    const validated: JsonObject[] = []
    const find = async (kind: 'code' | 'refresh', credential: string): Promise<StoredGrant | undefined> => {
      const stored = await storedGrants.redeemable(kind, credential)
      if (stored !== undefined) found.push(stored.redemption)
      return stored
    }
    const kit: GrantKit = {
      now: runtime.now,
      sha256: (text) => runtime.base64url(runtime.sha256(utf8(text))),
      equals: (one, other) => constantTimeEqual(one, other),
      randomId: () => runtime.base64url(runtime.randomBytes(32)),
      records: recordsOf(plugin),
      findAuthorizationCode: (code) => find('code', code),
      findRefreshToken: (token) => find('refresh', token),
      redemption: (credential, expiresAt) =>
        createRedemption({ kind: 'plugin', hash: hashIn(plugin, credential), expiresAt: momentOf(expiresAt) }),
      authenticateUser: (credentials) => authenticateUser(credentials, client, trace),
      async validateAccessToken(token) {
        const validation = await accessTokens.validate(token)
        if (!validation.valid) return undefined
        validated.push(validation.claims)
        return validation.claims
      },
    }
    return { kit, found, validated }
  }
}
