import type { ClientDirectory } from '../directory/client-directory.ts'
import { type CompleteSubject, completeSubject, type UserQuestion } from '../directory/user-service.ts'
import type { OAuthError } from '../errors/oauth-error.ts'
import type { Fact } from '../events/event.ts'
import type { Registry } from '../parts/registry.ts'
import type { TokenBindings } from '../parts/token-binding.ts'
import type { NewRecord } from '../records/envelope.ts'
import { fingerprintOf } from '../records/keys.ts'
import type { GrantRecord } from '../records/schemas.ts'
import { type Runtime, randomId } from '../runtime.ts'
import type { AccessTokens } from '../tokens/access-token.ts'
import type { ScopeClaims } from '../tokens/access-token-claims.ts'
import type { IdentityTokens } from '../tokens/identity-token.ts'
import type { RevocationMark } from '../tokens/revocation-mark.ts'
import type { Families } from '../tokens/stored-grant.ts'
import type { Json, JsonObject } from '../types.ts'
import { continuedIn, createMintRefreshToken, type RefreshTokenRequest } from './mint-refresh-token.ts'
import type { AccessScopes } from './policy.ts'
import { allowsIdentityToken, allowsRefreshToken, authorizedScopes, canRefresh } from './scope-policy.ts'
import { type MarkDeps, type MarkRequest, revocationMark } from './token-mark.ts'

/** Tokens that are minted but not issued: the commit follows, unless they repeat an earlier response. */
export interface Minted {
  readonly response: JsonObject
  /** The record of the access token, if it is a reference token. */
  readonly records: readonly NewRecord[]
  /** The record of the new refresh token. */
  readonly successor: NewRecord<GrantRecord> | undefined
  /**
   * The updated record of a reused refresh token. It is written after the commit, because a request that loses a race
   * may remove what it has put, and this record must stay.
   */
  readonly continued: NewRecord | undefined
  /** The events of the tokens, for the response that issues them. */
  readonly facts: readonly Fact[]
}

interface MintRequest extends RefreshTokenRequest, MarkRequest {
  /** The rules that the request was checked with. */
  readonly scopeRules: ScopeClaims
  readonly access: AccessScopes
  /** The question whether the user is active; `undefined` without a user. */
  readonly question: UserQuestion | undefined
  /** Returns the refusal of the grant. */
  readonly refuse: (reason: string) => OAuthError
}

/** Mints the tokens of a checked grant result. */
export type Mint = (request: MintRequest) => Promise<Minted>

interface MintDeps extends Omit<MarkDeps, 'listed'> {
  readonly clients: Pick<ClientDirectory, 'all'>
  readonly issuer: string
  readonly accessTokens: AccessTokens
  readonly identityTokens: IdentityTokens
  readonly families: Families
  readonly bindings: TokenBindings
  readonly registry: Registry
  readonly observed: boolean
  readonly runtime: Runtime
}

/** Returns the lifetime of the access token in seconds. */
function lifetimeOf({ result, client, issuance, refuse }: MintRequest): number {
  const { issue = {}, lineage } = result
  const lifetime = Math.min(
    issue.lifetime ?? client.accessTokenLifetime,
    client.accessTokenLifetime,
    issuance.lifetime ?? Number.POSITIVE_INFINITY,
    lineage === undefined ? Number.POSITIVE_INFINITY : lineage.expiresAt - issuance.at,
  )
  // The clock tolerance can accept a token that has just expired.
  if (lifetime <= 0) throw refuse('token_expired')
  return lifetime
}

/** Mints the identity token that a grant asks for. */
const mintIdentityToken = (
  identityTokens: IdentityTokens,
  { result, scopeRules, access: { scopes }, question, client, issuance }: MintRequest,
  subject: CompleteSubject,
  family: string | undefined,
  epochs: RevocationMark['epochs'],
  accessToken: string,
): Promise<string> =>
  identityTokens.mint({
    client,
    userClaims: scopeRules.userClaims,
    subject,
    question,
    scopes,
    nonce: result.nonce,
    identityClaims: result.identityClaims,
    requestedClaims: result.requestedClaims?.identityToken,
    accessToken,
    family,
    epochs,
    // OpenID Connect Core section 12.2: when this token is issued. That of a lost response can have expired.
    at: issuance.now,
  })

/** Returns the events of the tokens, from the fingerprints of the first two and the identity token itself. */
function factsOf(
  { families, runtime }: MintDeps,
  { access: { scopes }, grantType }: MintRequest,
  subject: CompleteSubject | undefined,
  family: string | undefined,
  tokens: { readonly access: string; readonly refresh: string | undefined; readonly identity: string | undefined },
): readonly Fact[] {
  const login = subject && { idp: subject.idp, ...(subject.acr !== undefined && { acr: subject.acr }) }
  const issued = (tokenType: 'access_token' | 'refresh_token' | 'identity_token', fingerprint: string): Fact => ({
    type: 'token_issued',
    tokenType,
    grantType,
    scopes,
    fingerprint,
    ...login,
    ...families.describe(family),
  })
  const { access, refresh, identity } = tokens
  return [
    issued('access_token', access),
    ...(refresh === undefined ? [] : [issued('refresh_token', refresh)]),
    ...(identity === undefined ? [] : [issued('identity_token', fingerprintOf(runtime.sha256Hex(identity)))]),
  ]
}

export function createMint(deps: MintDeps): Mint {
  const { accessTokens, identityTokens, bindings, registry, observed, runtime } = deps
  const mintRefreshToken = createMintRefreshToken(deps)
  const markDeps = { ...deps, listed: new Set(deps.clients.all) }

  return async (request) => {
    const { result, scopeRules, access: granted, client, confirmation, issuance } = request
    const { scopes, audience } = granted
    const { issue = {}, stored, lineage } = result
    const subject = result.subject && completeSubject(result.subject, issuance.at)
    const wantsRefreshToken =
      subject !== undefined &&
      lineage === undefined &&
      issue.refreshToken !== false &&
      canRefresh(client, registry) &&
      allowsRefreshToken(authorizedScopes(result))
    const family = (stored?.record ?? lineage)?.family ?? (wantsRefreshToken ? randomId(runtime, 16) : undefined)
    const format = issue.accessToken ?? client.accessTokenFormat
    const mark = await revocationMark(request, subject?.sub, format === 'jwt' && !wantsRefreshToken, markDeps)
    const lifetime = lifetimeOf(request)

    const access = await accessTokens.mint({
      client,
      scopeRules,
      scopes,
      audience,
      subject,
      question: request.question,
      claims: result.claims,
      act: result.act,
      cnf: confirmation,
      userinfoClaims: result.requestedClaims?.userinfo,
      family,
      epochs: mark.epochs,
      revision: mark.revision,
      format,
      at: issuance.at,
      random: issuance.accessToken,
      lifetime,
    })
    const refresh =
      wantsRefreshToken && family !== undefined ? mintRefreshToken(request, subject, family, mark) : undefined
    const continues = continuedIn(result) !== undefined
    const identity =
      issue.identityToken === true && subject !== undefined && allowsIdentityToken(scopes)
        ? await mintIdentityToken(identityTokens, request, subject, family, mark.epochs, access.token)
        : undefined

    const response: Record<string, Json> = {
      access_token: access.token,
      token_type: bindings.schemeOf(confirmation),
      // RFC 6749 section 5.1: from the time of the response.
      expires_in: Math.min(lifetime, Math.max(0, issuance.at + lifetime - issuance.now)),
      scope: scopes.join(' '),
      ...(refresh !== undefined && { refresh_token: refresh.token }),
      ...(identity !== undefined && { id_token: identity }),
      ...result.response,
    }
    return {
      response,
      records: access.records,
      successor: continues ? undefined : refresh?.record,
      continued: continues ? refresh?.record : undefined,
      // Without an observer, hashing the identity token for its fingerprint would be wasted work.
      facts: observed
        ? factsOf(deps, request, subject, family, {
            access: access.fingerprint,
            refresh: refresh?.fingerprint,
            identity,
          })
        : [],
    }
  }
}
