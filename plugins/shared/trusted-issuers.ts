import { configurationObject, type GrantKit, type Kit } from '@grantry/core'
import type { JWTPayload } from 'jose'
import * as v from 'valibot'
import { seconds } from './config-schema.ts'
import { fetchedUriProblem } from './fetched-uri.ts'
import { jwksUriSettingsSchema } from './jwks-settings.ts'
import { createPublishedKeys } from './jwks-uri.ts'
import { claimsProblem, singleUseOf } from './jwt-claims.ts'
import { jwksSchema, type KeySet, keySetOf } from './key-set.ts'
import { algorithmsSchema, unverifiedJwt, verifiedJwt } from './verify-jwt.ts'

const text = v.pipe(v.string('must be a string'), v.minLength(1, 'must not be empty'))

/** The members of an issuer. */
export const issuerEntries = {
  /** The `iss` of its JWTs, compared character by character. */
  issuer: text,
  /** Its public keys. */
  jwks: v.optional(jwksSchema),
  /** The URL at which it publishes its public keys, instead of `jwks`. */
  jwksUri: v.optional(v.string('must be a URL')),
  algorithms: algorithmsSchema,
  /** The values of `aud` that it uses for this provider. Default: the issuer, and the URLs of its token endpoint. */
  audience: v.optional(v.pipe(v.array(text, 'must be an array of strings'), v.minLength(1, 'must not be empty'))),
  /** Seconds from now to the latest `exp`, and from the earliest `iat` to now. */
  maxLifetime: v.optional(seconds(10, 86_400), 3600),
  /** Whether a JWT without `jti` is refused. With one, it is accepted once in any case. */
  requireJti: v.optional(v.boolean('must be true or false'), false),
}

const issuerSchema = configurationObject(issuerEntries)

/** The settings of plugins that accept JWTs of other issuers. */
export const trustedIssuersEntries = {
  issuers: v.array(issuerSchema, 'must be an array of issuers'),
  /** Seconds of clock skew that are allowed for `exp`, `nbf` and `iat`. */
  clockTolerance: v.optional(seconds(0, 60), 10),
  /** How keys are fetched. */
  jwksUri: v.optional(jwksUriSettingsSchema, {}),
}

const settingsSchema = v.object(trustedIssuersEntries)

type TrustedIssuer = v.InferOutput<typeof issuerSchema>

/** OpenID Connect Core section 2. */
const maxSubjectLength = 255

/** A JWT of a trusted issuer. */
export interface TrustedJwt {
  readonly claims: JWTPayload & { readonly iss: string; readonly sub: string; readonly exp: number }
  /** The id that can be used once, if the JWT has one. */
  readonly singleUse?: { readonly id: string; readonly expiresAt: number }
}

/** Verifies JWTs of the configured issuers. */
export interface TrustedIssuers {
  /**
   * Returns the JWT, or the reason why it is refused.
   *
   * @param types the accepted values of `typ`, besides `JWT` and none, in lower case
   * @throws OAuthError the refusal of the grant, if the JWT is bound to keys that the request has not proved
   */
  verify(jwt: string, types: readonly string[], kit: GrantKit): Promise<TrustedJwt | { readonly reason: string }>
}

/** @throws TypeError when an issuer has not exactly one source of keys, or two have the same name. */
function assertIssuers({ issuers, jwksUri }: v.InferOutput<typeof settingsSchema>, what: string): void {
  for (const [index, { issuer, jwks, jwksUri: uri }] of issuers.entries()) {
    const where = `${what}: issuers[${index}]`
    if ((jwks === undefined) === (uri === undefined)) throw new TypeError(`${where} must have either jwks or jwksUri`)
    if (issuers.findIndex((other) => other.issuer === issuer) < index) {
      throw new TypeError(`${where}.issuer is the same as an earlier one`)
    }
    const problem = uri === undefined ? undefined : fetchedUriProblem(uri, jwksUri)
    if (problem !== undefined) throw new TypeError(`${where}.jwksUri ${problem}`)
  }
}

/**
 * @param what the plugin, for errors
 * @param audienceOf returns the accepted values of `aud` for issuers without their own
 */
export function createTrustedIssuers(
  settings: v.InferOutput<typeof settingsSchema>,
  what: string,
  audienceOf = ({ issuer, tokenEndpoints }: Kit): readonly string[] => [issuer, ...tokenEndpoints],
): TrustedIssuers {
  assertIssuers(settings, what)
  const { clockTolerance } = settings
  const published = createPublishedKeys(settings.jwksUri)
  const known = new Map(
    settings.issuers.map((issuer) => [issuer.issuer, { ...issuer, keys: issuer.jwks && keySetOf(issuer.jwks) }]),
  )

  /** Verifies the signature, `iss`, `exp` and `nbf`. */
  async function verified(jwt: string, { issuer, algorithms, jwksUri = '', ...from }: TrustedIssuer, kit: Kit) {
    const { keys } = from as { readonly keys?: KeySet }
    const options = {
      issuer,
      algorithms: [...algorithms],
      currentDate: new Date(kit.now() * 1000),
      clockTolerance,
      requiredClaims: ['sub', 'aud', 'exp'],
    }
    if (keys !== undefined) return verifiedJwt(jwt, keys, options)
    return published.verify(jwksUri, kit, ({ find }) => verifiedJwt(jwt, find, options))
  }

  /** Checks what jose does not check. Returns the reason of a refusal. */
  function problemWith(payload: JWTPayload, from: TrustedIssuer, kit: Kit): string | undefined {
    const { maxLifetime, requireJti, audience = audienceOf(kit) } = from
    const { sub, iat, jti } = payload
    const now = kit.now()
    const problem = claimsProblem(payload, { audience, now, maxLifetime, clockTolerance })
    if (problem !== undefined) return problem
    if (typeof sub !== 'string' || sub === '' || sub.length > maxSubjectLength) return 'sub_invalid'
    if (iat !== undefined && iat < now - maxLifetime - clockTolerance) return 'iat_too_early'
    return jti === undefined && requireJti ? 'jti_missing' : undefined
  }

  return {
    async verify(jwt, types, kit) {
      const { payload, reason } = unverifiedJwt(jwt, types)
      if (payload === undefined) return { reason }
      // A token of this provider is not an assertion of another one, whatever the configuration says.
      const issuer = payload.iss === undefined || payload.iss === kit.issuer ? undefined : known.get(payload.iss)
      if (issuer === undefined) return { reason: 'issuer_unknown' }
      const outcome = await verified(jwt, issuer, kit)
      if (outcome.payload === undefined) return { reason: outcome.reason }
      const problem = problemWith(outcome.payload, issuer, kit)
      if (problem !== undefined) return { reason: problem }
      kit.assertKeys(outcome.payload.cnf)
      const claims = outcome.payload as TrustedJwt['claims']
      if (claims.jti === undefined) return { claims }
      return { claims, singleUse: singleUseOf(claims.iss, claims.jti, claims.exp, clockTolerance) }
    },
  }
}
