import type { Client } from '../directory/client.ts'
import type { UserClaims } from '../directory/user-claims.ts'
import { type CompleteSubject, localProvider, type UserQuestion } from '../directory/user-service.ts'
import type { KeyRing } from '../keys/key-ring.ts'
import { after, isThenable } from '../promises.ts'
import { fingerprintOf } from '../records/keys.ts'
import { type Runtime, type SigningAlgorithm, utf8 } from '../runtime.ts'
import type { JsonObject, MaybePromise } from '../types.ts'
import type { TokenFacts } from './access-token.ts'
import type { AuthorizationStatus } from './authorization-status.ts'
import { assertCustomClaims, identityFamilyIn, isIdentityProtocolClaim } from './claims.ts'
import { type Epochs, epochClaims, epochsIn } from './epochs.ts'
import type { Jwt } from './jwt.ts'

/**
 * Returns the algorithm of the identity tokens of a client. Without a setting, RS256, which is the default of clients
 * (OpenID Connect Dynamic Client Registration 1.0 section 2), if a key signs with it.
 */
export const identityTokenAlgorithmOf = (
  { identityTokenAlgorithm }: Pick<Client, 'identityTokenAlgorithm'>,
  { algorithms }: Pick<KeyRing, 'algorithms'>,
): SigningAlgorithm => identityTokenAlgorithm ?? (algorithms.includes('RS256') ? 'RS256' : algorithms[0])

export type IdentityTokenValidation =
  | (TokenFacts & { readonly valid: true; readonly claims: JsonObject; readonly client: Client })
  | (TokenFacts & { readonly valid: false; readonly reason: string })

/**
 * Mints and validates identity tokens. They identify the user but contain no profile claims, which userinfo returns,
 * unless the request or the client asks for them.
 */
export interface IdentityTokens {
  mint(token: {
    readonly client: Client
    readonly userClaims: UserClaims
    readonly subject: CompleteSubject
    /** The question whether the user is active. */
    readonly question: UserQuestion | undefined
    /** Their claims are included if the client has `userClaimsInIdentityToken`. */
    readonly scopes: readonly string[]
    readonly nonce: string | undefined
    readonly identityClaims: JsonObject | undefined
    /** The names of claims of the user. */
    readonly requestedClaims: readonly string[] | undefined
    /** For `at_hash`. */
    readonly accessToken: string
    /** `undefined` if the authorization has no stored grant, so there is no family to revoke. */
    readonly family: string | undefined
    readonly epochs: Epochs
    /** Epoch seconds. */
    readonly at: number
  }): Promise<string>
  /** @param clientId the client that must be in the audience. Default: the audience, which must be one client. */
  validate(token: string, clientId?: string): Promise<IdentityTokenValidation>
}

export function createIdentityTokens(deps: {
  readonly issuer: string
  readonly keys: KeyRing
  readonly jwt: Jwt
  readonly authorizationStatus: AuthorizationStatus
  readonly observed: boolean
  readonly runtime: Runtime
}): IdentityTokens {
  const { issuer, keys, jwt, authorizationStatus, observed, runtime } = deps

  /**
   * OpenID Connect Core section 3.1.3.6: the left half of the hash, with the hash function of the signing algorithm.
   */
  function accessTokenHash(accessToken: string, algorithm: SigningAlgorithm): MaybePromise<string> {
    const hash = algorithm === 'EdDSA' ? runtime.sha512 : runtime.sha256
    return after(hash(utf8(accessToken)), (digest) => runtime.base64url(digest.subarray(0, digest.length / 2)))
  }

  return {
    async mint({ client, subject, scopes, nonce, identityClaims, requestedClaims = [], accessToken, ...token }) {
      const { userClaims, question, family, epochs, at: now } = token
      const granted = client.userClaimsInIdentityToken ? scopes : []
      const byName = requestedClaims.length > 0 ? { client, names: requestedClaims } : undefined
      const ofUser =
        granted.length > 0 || byName !== undefined
          ? await userClaims(subject.sub, granted, 'identity', byName, question)
          : undefined
      const custom = { ...ofUser, ...identityClaims }
      assertCustomClaims(custom, isIdentityProtocolClaim)
      const algorithm = identityTokenAlgorithmOf(client, keys)
      const hashing = accessTokenHash(accessToken, algorithm)
      const claims: JsonObject = {
        iss: issuer,
        sub: subject.sub,
        aud: client.clientId,
        exp: now + client.identityTokenLifetime,
        iat: now,
        nbf: now,
        ...(nonce !== undefined && { nonce }),
        auth_time: subject.authTime,
        ...(subject.idp !== localProvider && { idp: subject.idp }),
        amr: subject.amr,
        ...(subject.acr !== undefined && { acr: subject.acr }),
        at_hash: isThenable(hashing) ? await hashing : hashing,
        ...(family !== undefined && { txn: family }),
        ...epochClaims(epochs),
        ...custom,
      }
      return jwt.sign(claims, 'JWT', algorithm)
    },

    async validate(token, forClient) {
      // Only for events: JWTs are not looked up by their hash.
      const fingerprint = observed ? fingerprintOf(runtime.sha256Hex(token)) : ''
      const claims = await jwt.verify(token, 'JWT')
      if (claims === undefined) return { valid: false, reason: 'token_unknown', fingerprint }
      const { aud, sub } = claims
      const clientId = forClient ?? (typeof aud === 'string' ? aud : '')
      const audiences: readonly unknown[] = Array.isArray(aud) ? aud : [aud]
      if (!audiences.includes(clientId)) return { valid: false, reason: 'wrong_audience', fingerprint }
      if (typeof sub !== 'string') return { valid: false, reason: 'token_not_ours', fingerprint }
      const state = await authorizationStatus({
        clientId,
        sub,
        family: identityFamilyIn(claims),
        epochs: epochsIn(claims),
      })
      const facts: TokenFacts = { fingerprint, client: state.client, sub }
      if (state.reason !== undefined) return { ...facts, valid: false, reason: state.reason }
      // The seed, section 2.3: `idp` is always returned.
      return { ...facts, valid: true, claims: { idp: localProvider, ...claims }, client: state.client }
    },
  }
}
