import type { Client } from '../directory/client.ts'
import type { ScopeDirectory } from '../directory/scopes.ts'
import type { UserClaims } from '../directory/user-claims.ts'
import type { CompleteSubject, UserQuestion } from '../directory/user-service.ts'
import type { Confirmation } from '../parts/grant.ts'
import type { Bytes } from '../runtime.ts'
import type { Json, JsonObject } from '../types.ts'
import type { Audiences } from './audience.ts'
import { assertCustomClaims, isProtocolClaim } from './claims.ts'
import { type Epochs, epochClaims } from './epochs.ts'

/** What tokens contain because of their scopes. */
export interface ScopeClaims {
  readonly audiences: Audiences
  readonly userClaims: UserClaims
  readonly lasting: ScopeDirectory['lasting']
}

export interface NewAccessToken {
  readonly client: Client
  readonly scopeRules: ScopeClaims
  readonly scopes: readonly string[]
  /** The claim `aud`. */
  readonly audience: string | readonly string[]
  readonly subject: CompleteSubject | undefined
  /** The question whether the user is active. */
  readonly question: UserQuestion | undefined
  readonly claims: JsonObject | undefined
  /** The claim `act` (RFC 8693 section 4.1). */
  readonly act: JsonObject | undefined
  /** The claim `cnf` (RFC 7800 section 3.1). */
  readonly cnf: Confirmation | undefined
  /** The claims that userinfo returns besides those of the scopes. */
  readonly userinfoClaims: readonly string[] | undefined
  readonly family: string | undefined
  readonly epochs: Epochs
  /** For the record of a reference token. */
  readonly revision: string | undefined
  readonly format: 'jwt' | 'reference'
  /** Epoch seconds. */
  readonly at: number
  /** 32 bytes. */
  readonly random: Bytes
  /** Seconds. */
  readonly lifetime: number
}

/**
 * Returns the claims of a new access token, in either format (RFC 9068 section 2.2).
 *
 * @throws TypeError when a custom claim is reserved for the protocol.
 */
export type AccessTokenClaims = (token: NewAccessToken, jti: string) => Promise<JsonObject>

export function createAccessTokenClaims(deps: {
  readonly issuer: string
  readonly clientTokenSubject: 'none' | 'client_id'
}): AccessTokenClaims {
  const { issuer, clientTokenSubject } = deps

  const namesClient = ({ subject, format }: NewAccessToken): boolean =>
    clientTokenSubject === 'client_id' && subject === undefined && format === 'jwt'

  return async (token, jti) => {
    const { client, scopes, subject, family, userinfoClaims = [], epochs, at: now } = token
    const { userClaims } = token.scopeRules
    const claims: Record<string, Json> = {
      iss: issuer,
      aud: token.audience,
      iat: now,
      nbf: now,
      exp: now + token.lifetime,
      jti,
      client_id: client.clientId,
      scope: scopes.join(' '),
    }
    // One by one: many spreads in a literal take four times as long (Node.js 20).
    if (namesClient(token)) claims.sub = client.clientId
    if (subject !== undefined) {
      claims.sub = subject.sub
      claims.auth_time = subject.authTime
      claims.idp = subject.idp
      claims.amr = subject.amr
      if (subject.acr !== undefined) claims.acr = subject.acr
    }
    if (token.act !== undefined) claims.act = token.act
    if (token.cnf !== undefined) claims.cnf = token.cnf
    if (family !== undefined) claims.grant_id = family
    // Userinfo reads them from the token: no further trip to the storage, in any process.
    const namesClaims = userinfoClaims.length > 0 && subject !== undefined && scopes.includes('openid')
    if (namesClaims) claims.userinfo_claims = userinfoClaims
    // Spreads, because Object.assign would let a claim `__proto__` replace the prototype instead of being refused.
    const custom = {
      ...(subject && (await userClaims(subject.sub, scopes, 'api', undefined, token.question))),
      ...token.claims,
    }
    assertCustomClaims(custom, isProtocolClaim)
    return Object.assign(claims, epochClaims(epochs), custom)
  }
}
