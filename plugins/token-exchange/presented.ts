import type { GrantKit, Json, OAuthError, Refuse, StoredGrant, Subject, ValidatedToken } from '@grantry/core'
import * as v from 'valibot'
import type { Claims } from '../shared/actors.ts'
import type { TrustedIssuers } from '../shared/trusted-issuers.ts'
import { unprovedTimeOf } from '../shared/unproved-time.ts'

/** RFC 8693 section 3, without the types of SAML. */
const tokenTypes = ['access_token', 'refresh_token', 'id_token', 'jwt'] as const

export type TokenType = (typeof tokenTypes)[number]

const prefix = 'urn:ietf:params:oauth:token-type:'

/** Returns the identifier of a token type (RFC 8693 section 3). */
export const identifierOf = (type: TokenType): string => `${prefix}${type}`

/** Returns the token type with this identifier, if it is known. */
export const tokenTypeOf = (identifier: string): TokenType | undefined =>
  tokenTypes.find((type) => identifierOf(type) === identifier)

/** A valid token that a request presents. */
export interface PresentedToken {
  readonly type: TokenType
  /** The client that it was issued to; `undefined` for a JWT of another issuer. */
  readonly clientId?: string | undefined
  /** The user, if the token has one; for a JWT of another issuer, its `sub`. */
  readonly sub?: string | undefined
  /** Its scopes; `undefined` for an identity token and a JWT of another issuer. */
  readonly scopes?: readonly string[] | undefined
  /** Its claims. For a refresh token, those of the access tokens. */
  readonly claims: Claims
}

/** A presented token with what the core needs to continue its family. */
export interface ReadToken extends PresentedToken {
  readonly origin?: ValidatedToken | StoredGrant | undefined
  /** The user of a token of this provider. */
  readonly subject?: Subject | undefined
  /** Whether the `sub` of the token is its client. */
  readonly hasClientSubject?: boolean | undefined
}

export const refusal = 'The token cannot be exchanged'

/** RFC 8693 section 2.2.2: `invalid_request` for a token that is not valid or not acceptable. */
export const notExchanged = (reason: string, refuse: Refuse): OAuthError => refuse('invalid_request', refusal, reason)

const subjectClaims = v.object({
  sub: v.string(),
  amr: v.array(v.string()),
  auth_time: v.number(),
  idp: v.optional(v.string()),
  acr: v.optional(v.string()),
})

/** Returns the user of a token of this provider, and how the user was authenticated. */
function subjectIn(claims: Claims): Subject | undefined {
  if (claims.sub === undefined) return undefined
  const { auth_time: authTime, ...subject } = v.parse(subjectClaims, claims)
  return { ...subject, authTime }
}

/**
 * Returns the APIs that the new token is for. Returns none, which the core refuses, if the user has allowed the scopes
 * at other APIs only: several APIs can have a scope with the same name.
 *
 * @param listed the scopes that the policy lists. They are allowed at all targets, which the policy has seen
 */
export function audienceOf(
  targets: readonly string[],
  { type, claims }: ReadToken,
  listed: readonly string[] | undefined,
): readonly string[] {
  const tokenAudiences: readonly unknown[] = [claims.aud].flat()
  const isLimited = type === 'access_token' && listed === undefined
  return isLimited && !targets.every((target) => tokenAudiences.includes(target)) ? [] : targets
}

/**
 * Returns the claims of the new token. The organization of the subject token remains, because a token without an
 * organization could be used for others. So does the mark of an unproved authentication time.
 *
 * @param added those of the policy
 */
export function claimsOf({ origin, claims }: ReadToken, added: Readonly<Record<string, Json>> | undefined) {
  const { organization } = claims
  const isNamed = origin !== undefined && typeof organization === 'string'
  const kept = { ...(isNamed && { organization }), ...added, ...(origin && unprovedTimeOf(claims)) }
  return Object.keys(kept).length === 0 ? undefined : { claims: kept }
}

/** @throws OAuthError `invalid_request` when the token is not valid, or must not be presented by this client. */
export type ReadPresented = (token: string, type: TokenType, kit: GrantKit) => Promise<ReadToken>

export function createReadPresented(issuers: TrustedIssuers): ReadPresented {
  async function refreshToken(token: string, kit: GrantKit): Promise<ReadToken> {
    const stored = await kit.findGrant('refresh', token)
    if (stored === undefined) throw notExchanged('refresh_token_invalid', kit.refuse)
    const { clientId, subject, scopes, claims, act } = stored
    // RFC 6749 section 10.4: only the client that it was issued to may present it.
    kit.assertClient(clientId)
    const withActor = { ...claims, sub: subject.sub, ...(act !== undefined && { act }) }
    return { type: 'refresh_token', clientId, sub: subject.sub, subject, scopes, claims: withActor, origin: stored }
  }

  async function foreignToken(token: string, kit: GrantKit): Promise<ReadToken> {
    // An access token of another issuer too: its audience is this provider.
    const verified = await issuers.verify(token, ['at+jwt'], kit)
    if ('reason' in verified) throw notExchanged(verified.reason, kit.refuse)
    return { type: 'jwt', sub: verified.claims.sub, claims: verified.claims }
  }

  return async (token, type, kit) => {
    if (type === 'jwt') return foreignToken(token, kit)
    if (type === 'refresh_token') return refreshToken(token, kit)
    const origin = await kit.validateToken(token, type)
    if (origin === undefined) throw notExchanged(`${type}_invalid`, kit.refuse)
    const { clientId, claims, hasClientSubject } = origin
    // An identity token is for the client in its audience only.
    if (type === 'id_token') kit.assertClient(clientId)
    const subject = subjectIn(claims)
    const scopes = typeof claims.scope === 'string' ? claims.scope.split(' ') : undefined
    return { type, clientId, sub: subject?.sub, subject, scopes, claims, hasClientSubject, origin }
  }
}
