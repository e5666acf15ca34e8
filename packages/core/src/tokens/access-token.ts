import type { Client } from '../directory/client.ts'
import type { ActiveQuestion } from '../directory/user-service.ts'
import type { Confirmation } from '../parts/grant.ts'
import { clientProblem, parseConfirmation, type TokenBindings } from '../parts/token-binding.ts'
import { after, allOf } from '../promises.ts'
import { type Lookup, type NewRecord, recordAt } from '../records/envelope.ts'
import { fingerprintOf, keyOf } from '../records/keys.ts'
import { type AccessTokenRecord, isAccessTokenRecord } from '../records/schemas.ts'
import type { Store } from '../records/store.ts'
import { type Runtime, randomId } from '../runtime.ts'
import type { Json, JsonObject } from '../types.ts'
import type { AccessTokenClaims, NewAccessToken, ScopeClaims } from './access-token-claims.ts'
import type { AuthorizationStatus, DenyList } from './authorization-status.ts'
import { familyIn, userSubOf } from './claims.ts'
import { epochsIn } from './epochs.ts'
import type { Jwt } from './jwt.ts'
import type { Revision } from './revision.ts'
import type { Families } from './stored-grant.ts'

/** What is known about a token, valid or not; for events. */
export interface TokenFacts {
  readonly fingerprint: string
  readonly client?: Client | undefined
  /** The user, never the client. */
  readonly sub?: string | undefined
}

/** What an event contains about a revoked access token. */
export interface RevokedToken {
  readonly fingerprint: string
  readonly family?: string
  readonly sub: string | undefined
}

export type AccessTokenValidation =
  | (TokenFacts & {
      readonly valid: true
      readonly claims: JsonObject
      readonly scopes: readonly string[]
      readonly client: Client
      /** The keys that the token is bound to. */
      readonly confirmation: Confirmation | undefined
    })
  | (TokenFacts & { readonly valid: false; readonly reason: string })

/** Mints, validates and revokes access tokens: JWTs (RFC 9068), and reference tokens with the same claims. */
export interface AccessTokens {
  /** `fingerprint` is for events, and empty if there is no observer that needs it. */
  mint(token: NewAccessToken): Promise<{
    readonly token: string
    readonly records: readonly NewRecord[]
    readonly fingerprint: string
  }>
  /** @param question set if the request asks for the claims of the user, too */
  validate(token: string, question?: ActiveQuestion): Promise<AccessTokenValidation>
  /** Revokes the token. Returns `undefined` if there is nothing to revoke: it is no valid token. */
  revoke(token: string, client: Client): Promise<RevokedToken | 'client_mismatch' | undefined>
}

const maxReferenceLength = 512

/**
 * Seconds by which the clocks of servers with the same storage may differ: a token that has expired on one may still be
 * valid on another.
 */
const clockSkew = 60

/**
 * The id of a JWT in the deny list: its `jti` or, without one, its signed part. Not the signature, of which several can
 * be valid.
 */
const denialIdOf = (token: string, jti: Json | undefined): string =>
  typeof jti === 'string' ? jti : token.slice(0, token.lastIndexOf('.'))

interface AccessTokenDeps {
  readonly issuer: string
  readonly scopeRules: () => ScopeClaims
  readonly claimsOf: AccessTokenClaims
  readonly store: Store
  readonly families: Families
  readonly denyList: DenyList
  readonly revision: Revision
  readonly authorizationStatus: AuthorizationStatus
  readonly jwt: Jwt
  readonly bindings: TokenBindings
  /** Seconds. */
  readonly clockTolerance: number
  readonly observed: boolean
  readonly runtime: Runtime
}

const referenceAt = (token: string, hash: string): Lookup<AccessTokenRecord | undefined> | undefined =>
  token.length > maxReferenceLength ? undefined : recordAt(keyOf('access', hash), isAccessTokenRecord)

function createMintAccessToken({
  claimsOf,
  jwt,
  clockTolerance,
  observed,
  runtime,
}: AccessTokenDeps): AccessTokens['mint'] {
  return async (token) => {
    if (token.format === 'jwt') {
      const claims = await claimsOf(token, runtime.base64url(token.random.subarray(0, 16)))
      const signed = await jwt.sign(claims, 'at+jwt')
      // Without an observer, hashing a JWT for its fingerprint would be wasted work.
      return { token: signed, records: [], fingerprint: observed ? fingerprintOf(runtime.sha256Hex(signed)) : '' }
    }
    const claims = await claimsOf(token, randomId(runtime, 16))
    const handle = runtime.base64url(token.random)
    const hash = runtime.sha256Hex(handle)
    const value: AccessTokenRecord = { claims, revision: token.revision }
    return {
      token: handle,
      records: [
        {
          key: keyOf('access', hash),
          value,
          expiresAt: Number(claims.exp) + clockTolerance + clockSkew,
        },
      ],
      fingerprint: fingerprintOf(hash),
    }
  }
}

function createValidateAccessToken({
  issuer,
  scopeRules,
  store,
  denyList,
  revision,
  authorizationStatus,
  jwt,
  bindings,
  clockTolerance,
  observed,
  runtime,
}: AccessTokenDeps): AccessTokens['validate'] {
  /** Returns the claims of a valid token, and whether nothing was revoked since its record was written. */
  const readReference = (token: string, hash: string) =>
    after(store.getAll([referenceAt(token, hash), revision.current]), ([record, current]) => {
      // The record outlives the token. The clock tolerance applies as for JWTs.
      const claims = record && Number(record.claims.exp) + clockTolerance > runtime.now() ? record.claims : undefined
      return { claims, isCurrent: record?.revision !== undefined && record.revision === current }
    })

  const readJwt = async (token: string) => ({ claims: await jwt.verify(token, 'at+jwt'), isCurrent: false })

  return async (token, question) => {
    const isJwt = token.includes('.')
    // A JWT is hashed only for its fingerprint in events; a reference token is found by its hash.
    const hash = isJwt && !observed ? '' : runtime.sha256Hex(token)
    const fingerprint = fingerprintOf(hash)
    const { claims, isCurrent } = await (isJwt ? readJwt(token) : readReference(token, hash))
    if (claims === undefined) return { valid: false, reason: 'token_unknown', fingerprint }
    const { client_id: clientId, scope, iss, aud, jti, cnf } = claims
    const sub = userSubOf(claims)
    if (typeof clientId !== 'string' || typeof scope !== 'string' || iss !== issuer) {
      return { valid: false, reason: 'token_not_ours', fingerprint }
    }
    const issuedScopes = scope === '' ? [] : scope.split(' ')
    const rules = scopeRules()
    const scopes = rules.lasting(issuedScopes, Number(claims.iat))
    const [state, denied] = await allOf([
      authorizationStatus({ clientId, sub, family: familyIn(claims), epochs: epochsIn(claims), isCurrent, question }),
      // Only for JWTs: revoking a reference token deletes its record.
      isJwt && denyList.isDenied(denialIdOf(token, jti)),
    ])
    const { client } = state
    const refused = (reason: string) => ({ fingerprint, client, sub, valid: false, reason }) as const
    const confirmation = cnf === undefined ? undefined : parseConfirmation(cnf)
    // Without the plugin, no part could check which key the request proves.
    if (cnf !== undefined && !bindings.canVerify(confirmation)) return refused('binding_unknown')
    if (!rules.audiences.fits(aud, scopes)) return refused('wrong_audience')
    if (state.reason !== undefined) return refused(state.reason)
    if (denied) return refused('token_revoked')
    const lasting = scopes.length < issuedScopes.length ? { ...claims, scope: scopes.join(' ') } : claims
    return { fingerprint, client: state.client, sub, valid: true, claims: lasting, scopes, confirmation }
  }
}

function createRevokeAccessToken({
  issuer,
  store,
  families,
  denyList,
  jwt,
  clockTolerance,
  runtime,
}: AccessTokenDeps): AccessTokens['revoke'] {
  return async (token, client) => {
    const isJwt = token.includes('.')
    const hash = runtime.sha256Hex(token)
    const tolerance = clockTolerance + clockSkew
    const claims = isJwt
      ? await jwt.verify(token, 'at+jwt', tolerance)
      : (await store.getAll([referenceAt(token, hash)]))[0]?.claims
    if (claims === undefined) {
      // A process may have deleted the record but crashed before the deletion was durable.
      if (!isJwt) await store.delete(keyOf('access', hash))
      return undefined
    }
    if (claims.iss !== issuer) return undefined
    const problem = clientProblem(claims.client_id, client)
    if (problem !== undefined) return problem
    if (!isJwt) await store.delete(keyOf('access', hash))
    else if (!(await denyList.deny(denialIdOf(token, claims.jti), Number(claims.exp) + tolerance))) return undefined
    return { fingerprint: fingerprintOf(hash), ...families.describe(familyIn(claims)), sub: userSubOf(claims) }
  }
}

export const createAccessTokens = (deps: AccessTokenDeps): AccessTokens => ({
  mint: createMintAccessToken(deps),
  validate: createValidateAccessToken(deps),
  revoke: createRevokeAccessToken(deps),
})
