import { configurationObject, type GrantKit, type Kit } from '@grantry/core'
import type { JWTPayload } from 'jose'
import * as v from 'valibot'
import { seconds } from './config-schema.ts'
import { createConfiguredIssuers, issuerKeyEntries } from './configured-issuers.ts'
import { jwksUriSettingsSchema } from './jwks-settings.ts'
import { assertionProblem, singleUseOf } from './jwt-claims.ts'
import { unverifiedJwt } from './verify-jwt.ts'

const text = v.pipe(v.string('must be a string'), v.minLength(1, 'must not be empty'))

/** The members of an issuer. */
export const issuerEntries = {
  ...issuerKeyEntries,
  /**
   * The values of `aud` that the issuer uses for this provider. Default: the issuer of this provider, and the URLs of
   * its token endpoint.
   */
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
  /**
   * The `typ`, in lower case and without `application/`: one of the accepted values, or `jwt`, which also stands for
   * none.
   */
  readonly typ: string
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

/**
 * @param what the plugin, for errors
 * @param audienceOf returns the accepted values of `aud` for issuers without their own
 */
export function createTrustedIssuers(
  settings: v.InferOutput<typeof settingsSchema>,
  what: string,
  audienceOf = ({ issuer, tokenEndpoints }: Kit): readonly string[] => [issuer, ...tokenEndpoints],
): TrustedIssuers {
  const { clockTolerance } = settings
  const issuers = createConfiguredIssuers(settings, `${what}: `, ['sub', 'aud', 'exp'])

  /** Checks what jose does not check. Returns the reason of a refusal. */
  function problemWith(payload: JWTPayload, from: TrustedIssuer, kit: Kit): string | undefined {
    const { maxLifetime, requireJti, audience = audienceOf(kit) } = from
    const rules = { audience, now: kit.now(), maxLifetime, clockTolerance, maxSubjectLength }
    const problem = assertionProblem(payload, rules)
    if (problem !== undefined) return problem
    return payload.jti === undefined && requireJti ? 'jti_missing' : undefined
  }

  return {
    async verify(jwt, types, kit) {
      const { payload, typ, reason } = unverifiedJwt(jwt, types)
      if (payload === undefined) return { reason }
      // A token of this provider is not an assertion of another one, whatever the configuration says.
      const issuer = payload.iss === kit.issuer ? undefined : issuers.find(payload.iss)
      if (issuer === undefined) return { reason: 'issuer_unknown' }
      const outcome = await issuers.verify(jwt, issuer, kit)
      if (outcome.payload === undefined) return { reason: outcome.reason }
      const problem = problemWith(outcome.payload, issuer, kit)
      if (problem !== undefined) return { reason: problem }
      kit.assertKeys(outcome.payload.cnf)
      const claims = outcome.payload as TrustedJwt['claims']
      if (claims.jti === undefined) return { claims, typ }
      return { claims, typ, singleUse: singleUseOf(claims.iss, claims.jti, claims.exp, clockTolerance) }
    },
  }
}
