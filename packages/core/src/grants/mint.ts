import type { Client } from '../directory/client.ts'
import { type CompleteSubject, completeSubject } from '../directory/subject.ts'
import { isOAuthError, type OAuthError } from '../errors/oauth-error.ts'
import type { Fact } from '../events/event.ts'
import type { Confirmation } from '../plugin/confirmation.ts'
import type { NewRecord } from '../records/envelope.ts'
import { fingerprintOf, hashOf, keyOf } from '../records/keys.ts'
import type { GrantRecord } from '../records/schemas.ts'
import type { TokenBindings } from '../registry/token-bindings.ts'
import type { Runtime } from '../runtime.ts'
import type { AccessTokens } from '../tokens/access-token.ts'
import { type Families, maxTokenLifetime } from '../tokens/family.ts'
import type { IdentityTokens } from '../tokens/identity-token.ts'
import { epochClaims, inheritedEpochs, recordedEpochs } from '../tokens/revocation-epochs.ts'
import type { RequestMarks, RevocationMark } from '../tokens/revocation-mark.ts'
import type { Json, JsonObject } from '../types.ts'
import type { Contributed } from './contributions.ts'
import type { Issuance } from './issuance.ts'
import type { CredentialDetails } from './redemption.ts'
import type { CheckedResult } from './result.ts'
import { allowsIdentityToken, allowsRefreshToken, authorizedScopes } from './scope-policy.ts'

/** Tokens that are minted but not issued: the commit follows, unless they repeat an earlier response. */
export interface Minted {
  readonly response: JsonObject
  readonly records: readonly NewRecord[]
  /**
   * The updated record of a reused refresh token. It is written after the commit, because a request that loses a race
   * may remove what it has put, and this record must stay.
   */
  readonly continued: NewRecord | undefined
  /** The events of the tokens, for the first response only. */
  readonly facts: readonly Fact[]
}

interface MintRequest {
  readonly result: CheckedResult
  /** The scopes of the access token. */
  readonly accessScopes: readonly string[]
  /** What the grant checks add. */
  readonly contributed: Contributed
  readonly client: Client
  /** The keys that the request has proved: the tokens are bound to them. */
  readonly confirmation: Confirmation | undefined
  readonly grantType: string
  /** Returns the refusal of the grant. */
  readonly refuse: (reason: string) => OAuthError
  /** The claims of the access tokens that the grant has validated. */
  readonly validatedTokens: readonly JsonObject[]
  readonly marks: RequestMarks
  readonly issuance: Issuance
}

/** Mints the tokens of a checked grant result. */
export type Mint = (request: MintRequest) => Promise<Minted>

/** The refresh token that stays the same. A spent one was rotated before its client was switched to `reuse`. */
const continuedIn = ({ continues }: CheckedResult): CredentialDetails | undefined =>
  continues?.spent === undefined ? continues : undefined

/** The claims of a stored refresh token from which tokens inherit their epochs. */
const epochSourceOf = ({ clientId, subject, epochs = {} }: GrantRecord): JsonObject => ({
  client_id: clientId,
  sub: subject.sub,
  auth_time: subject.authTime,
  ...epochClaims(epochs),
})

export function createMint(deps: {
  readonly issuer: string
  readonly accessTokens: AccessTokens
  readonly identityTokens: IdentityTokens
  readonly families: Families
  readonly bindings: TokenBindings
  /** Whether events are observed. */
  readonly observed: boolean
  readonly runtime: Runtime
}): Mint {
  const { issuer, accessTokens, identityTokens, families, bindings, observed, runtime } = deps

  /**
   * Returns the mark of a new authorization. If the storage is unavailable, a self-contained token is issued without
   * one; it is then refused if the client or subject was ever revoked.
   */
  async function newMark(
    marks: RequestMarks,
    sub: string | undefined,
    selfContained: boolean,
  ): Promise<RevocationMark> {
    try {
      return await marks.newMark(sub)
    } catch (error) {
      if (selfContained && isOAuthError(error)) return { epochs: {}, revision: undefined }
      throw error
    }
  }

  /** Returns what new tokens carry, so that a revocation reaches them even if it happens while they are issued. */
  async function revocationMark(
    { result: { stored, lineage }, client: { clientId }, validatedTokens, marks }: MintRequest,
    sub: string | undefined,
    selfContained: boolean,
  ): Promise<RevocationMark> {
    // Those of the stored grant: a token from an old grant counts as old.
    if (stored?.record !== undefined) return { epochs: stored.record.epochs ?? {}, revision: stored.revision }
    const mark = await newMark(marks, sub, selfContained)
    const presented = lineage?.stored === undefined ? validatedTokens : [epochSourceOf(lineage.stored.record)]
    if (presented.length === 0) return mark
    // No revision: the presented tokens may have been revoked since they were validated.
    return { epochs: inheritedEpochs(presented, clientId, sub, mark.epochs), revision: undefined }
  }

  /**
   * Mints the next refresh token of a family, or the first one. Returns `undefined` if the family has reached its
   * absolute lifetime.
   */
  function refreshToken(
    { result, contributed, client, confirmation, grantType, issuance: { at: now, refreshToken: random } }: MintRequest,
    subject: CompleteSubject,
    family: string,
    { epochs, revision: recorded }: RevocationMark,
  ) {
    const previous = result.stored?.record
    // Counted from the first token of the family, not from the code.
    const startedAt = previous?.kind === 'refresh' ? previous.familyStartedAt : now
    const { absoluteLifetime, slidingLifetime } = client.refreshToken
    const expiresAt = Math.min(startedAt + absoluteLifetime, now + slidingLifetime)
    if (expiresAt <= now) return undefined
    // `reuse`: the token stays the same and gets a later expiry.
    const token = continuedIn(result)?.credential ?? runtime.base64url(random)
    const hash = hashOf(token, runtime)
    // Never earlier than for an earlier token of the family, even if the configured lifetimes have been shortened.
    const keptUntil = Math.max(previous?.keptUntil ?? 0, startedAt + absoluteLifetime + maxTokenLifetime(client))
    // RFC 8707 section 2.2: the audiences of the authorization, also if this access token has fewer.
    const audience = result.stored === undefined ? (contributed.audience ?? result.audience) : previous?.audience
    // Those of a code were for its redemption. Those of a refresh token, such as its key, stay.
    const demands = { ...(previous?.kind === 'refresh' && previous.demands), ...contributed.demands }
    const cnf =
      bindings.refreshConfirmationOf(client, confirmation) ?? (previous?.kind === 'refresh' ? previous.cnf : undefined)
    const value: GrantRecord = {
      kind: 'refresh',
      issuer,
      clientId: client.clientId,
      grantType: previous?.grantType ?? grantType,
      subject: { ...subject, amr: [...subject.amr] },
      scopes: [...authorizedScopes(result)],
      family,
      familyStartedAt: startedAt,
      generation: (previous?.generation ?? 0) + 1,
      redeemableUntil: expiresAt,
      keptUntil,
      ...recordedEpochs(epochs),
      ...(recorded !== undefined && { revision: recorded }),
      ...(result.claims !== undefined && { claims: result.claims }),
      ...(result.act !== undefined && { act: result.act }),
      ...(cnf !== undefined && { cnf }),
      ...(audience !== undefined && { audience: [...audience] }),
      ...(Object.keys(demands).length > 0 && { demands }),
    }
    const record: NewRecord = { key: keyOf('refresh', hash), value, expiresAt: keptUntil }
    return { token, record, fingerprint: fingerprintOf(hash) }
  }

  return async (request) => {
    const { result, accessScopes: scopes, client, confirmation, grantType, issuance } = request
    const { issue = {}, stored, lineage } = result
    const subject = result.subject && completeSubject(result.subject, issuance.at)
    const wantsRefreshToken =
      subject !== undefined &&
      lineage === undefined &&
      issue.refreshToken !== false &&
      allowsRefreshToken(authorizedScopes(result))
    const family =
      (stored?.record ?? lineage)?.family ??
      (wantsRefreshToken ? runtime.base64url(runtime.randomBytes(16)) : undefined)
    const format = issue.accessToken ?? client.accessTokenFormat
    const mark = await revocationMark(request, subject?.sub, format === 'jwt' && !wantsRefreshToken)
    const lifetime = Math.min(
      issue.lifetime ?? client.accessTokenLifetime,
      client.accessTokenLifetime,
      lineage === undefined ? Number.POSITIVE_INFINITY : lineage.expiresAt - issuance.at,
    )
    // The clock tolerance can accept a token that has just expired.
    if (lifetime <= 0) throw request.refuse('token_expired')

    const access = await accessTokens.mint({
      client,
      scopes,
      subject,
      claims: result.claims,
      act: result.act,
      cnf: confirmation,
      family,
      ...mark,
      format,
      at: issuance.at,
      random: issuance.accessToken,
      lifetime,
    })
    const refresh = wantsRefreshToken && family !== undefined ? refreshToken(request, subject, family, mark) : undefined
    const continues = continuedIn(result) !== undefined
    const identity =
      issue.identityToken === true && subject !== undefined && allowsIdentityToken(scopes)
        ? await identityTokens.mint({
            client,
            subject,
            nonce: result.nonce,
            accessToken: access.token,
            family,
            epochs: mark.epochs,
            at: issuance.at,
          })
        : undefined

    const response: Record<string, Json> = {
      access_token: access.token,
      token_type: bindings.schemeOf(confirmation),
      expires_in: lifetime,
      scope: scopes.join(' '),
      ...(refresh !== undefined && { refresh_token: refresh.token }),
      ...(identity !== undefined && { id_token: identity }),
      ...result.response,
    }
    const login = subject && { idp: subject.idp, ...(subject.acr !== undefined && { acr: subject.acr }) }
    const issued = (tokenType: 'access_token' | 'refresh_token' | 'identity_token', fingerprint: string): Fact => ({
      type: 'token_issued',
      tokenType,
      grantType,
      scopes,
      ...login,
      fingerprint,
      ...families.describe(family),
    })
    return {
      response,
      records: refresh === undefined || continues ? access.records : [...access.records, refresh.record],
      continued: continues ? refresh?.record : undefined,
      // Without an observer, hashing the identity token for its fingerprint would be wasted work.
      facts: observed
        ? [
            issued('access_token', access.fingerprint),
            ...(refresh === undefined ? [] : [issued('refresh_token', refresh.fingerprint)]),
            ...(identity === undefined ? [] : [issued('identity_token', fingerprintOf(hashOf(identity, runtime)))]),
          ]
        : [],
    }
  }
}
