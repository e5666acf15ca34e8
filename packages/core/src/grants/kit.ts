import { maxLifetime } from '../config-schema.ts'
import type { PasswordCheck } from '../credentials/password-check.ts'
import { constantTimeEqual } from '../credentials/secret.ts'
import type { CompleteSubject } from '../directory/subject.ts'
import { utf8 } from '../encoding.ts'
import type { Trace } from '../events/recorder.ts'
import type { AuthenticatedClient } from '../plugin/grant.ts'
import type { GrantCheck } from '../plugin/grant-check.ts'
import type { GrantKit, PluginRecords, Redemption, StoredGrant } from '../plugin/grant-kit.ts'
import { hashOf, keyOf } from '../records/keys.ts'
import type { Store } from '../records/store.ts'
import type { Runtime } from '../runtime.ts'
import type { AccessTokens } from '../tokens/access-token.ts'
import { withoutClientSub } from '../tokens/claims.ts'
import type { CreateRequestMarks, RequestMarks } from '../tokens/revocation-mark.ts'
import type { StoredGrants } from '../tokens/stored-grant.ts'
import type { JsonObject } from '../types.ts'
import { createRedemption } from './redemption.ts'

/** The kit of a grant for one request. */
export interface RequestKit {
  readonly kit: GrantKit
  /** The same kit for a grant check, with the check's own records. */
  kitOf(check: GrantCheck): GrantKit
  /** The stored grants that the kit has returned to the grant. */
  readonly foundGrants: readonly Redemption[]
  /** The claims of the access tokens that the kit has validated. */
  readonly validatedTokens: readonly JsonObject[]
  /** Contains the mark of the user whom the kit has authenticated. */
  readonly marks: RequestMarks
}

/** The owner of records: a grant type or a grant check. The different lengths keep them apart. */
type Owner = readonly [grantType: string] | readonly [kind: 'grant-check', settles: string]

export type CreateGrantKit = (grantType: string, client: AuthenticatedClient, trace: Trace) => RequestKit

/** Drops what a later release may have stored: a grant returns the subject, and an unknown member is an error. */
const knownMembersOf = ({ sub, amr, authTime, idp, acr }: CompleteSubject): CompleteSubject => ({
  sub,
  amr,
  authTime,
  idp,
  ...(acr !== undefined && { acr }),
})

export function createGrantKits(deps: {
  readonly issuer: string
  readonly store: Store
  readonly storedGrants: StoredGrants
  readonly accessTokens: AccessTokens
  readonly checkPassword: PasswordCheck
  readonly createMarks: CreateRequestMarks
  readonly runtime: Runtime
}): CreateGrantKit {
  const { issuer, store, storedGrants, accessTokens, checkPassword, createMarks, runtime } = deps

  // The hash includes issuer and owner, so that a plugin cannot access the records of another plugin, or of another
  // provider on the same store.
  const hashIn = (owner: Owner, key: string): string => hashOf(JSON.stringify([issuer, ...owner, key]), runtime)

  /**
   * Checks that `expiresAt` is in the future. A duration passed by mistake would make a single-use credential usable
   * again immediately.
   */
  function validExpiry(expiresAt: number): number {
    const now = runtime.now()
    if (Number.isFinite(expiresAt) && expiresAt > now && expiresAt <= now + maxLifetime) return expiresAt
    throw new TypeError(
      `expiresAt must be in epoch seconds and in the future, but is ${expiresAt}; use kit.now() plus a number of seconds`,
    )
  }

  function createRecords(owner: Owner): Pick<GrantKit, 'records' | 'redemption'> {
    const at = (key: string): string => keyOf('plugin', hashIn(owner, key))
    const records: PluginRecords = {
      get: async (key, schema) => store.get(at(key), schema),
      put: async (key, value, expiresAt) => store.put(at(key), value, validExpiry(expiresAt)),
      insert: async (key, value, expiresAt) => store.insert(at(key), value, validExpiry(expiresAt)),
      delete: async (key) => store.delete(at(key)),
    }
    return {
      records,
      redemption: (credential, expiresAt) =>
        createRedemption({ kind: 'plugin', hash: hashIn(owner, credential), expiresAt: validExpiry(expiresAt) }),
    }
  }

  // The records of an owner depend on no request, so they are created once. No grant type contains a space.
  const byOwner = new Map<string, ReturnType<typeof createRecords>>()
  function recordsOf(owner: Owner): ReturnType<typeof createRecords> {
    const name = owner.join(' ')
    const known = byOwner.get(name)
    if (known !== undefined) return known
    const created = createRecords(owner)
    byOwner.set(name, created)
    return created
  }

  return (grantType, client, trace) => {
    const foundGrants: Redemption[] = []
    const validatedTokens: JsonObject[] = []
    const marks = createMarks(client.clientId)
    const find = async (kind: 'code' | 'refresh', credential: string): Promise<StoredGrant | undefined> => {
      const stored = await storedGrants.redeemable(kind, credential)
      if (stored === undefined) return undefined
      const { record, ...found } = stored
      const redemption = createRedemption({ kind, ...found, expiresAt: record.keptUntil, credential, record })
      foundGrants.push(redemption)
      return {
        clientId: record.clientId,
        subject: knownMembersOf(record.subject),
        scopes: record.scopes,
        ...(record.claims !== undefined && { claims: record.claims }),
        ...(record.redirectUri !== undefined && { redirectUri: record.redirectUri }),
        ...(record.nonce !== undefined && { nonce: record.nonce }),
        redemption,
      }
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
      authenticateUser: (credentials) => checkPassword(credentials, client, trace, marks.readEarly),
      async validateAccessToken(token) {
        const validation = await accessTokens.validate(token)
        if (!validation.valid) return undefined
        validatedTokens.push(validation.claims)
        return withoutClientSub(validation.claims)
      },
    }
    return {
      kit,
      kitOf: ({ settles }) => ({ ...kit, ...recordsOf(['grant-check', settles]) }),
      foundGrants,
      validatedTokens,
      marks,
    }
  }
}
