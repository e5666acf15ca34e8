import type { Actor } from '@grantry/core'
import * as v from 'valibot'
import { actorsIn } from '../shared/actors.ts'
import type { TrustedJwt } from '../shared/trusted-issuers.ts'

const identifier = v.pipe(v.string(), v.minLength(1), v.maxLength(255))
const resource = v.pipe(v.string(), v.minLength(1), v.maxLength(2000))
/** At most as long as that of a subject. */
const context = v.pipe(v.string(), v.minLength(1), v.maxLength(200))
const time = v.pipe(v.number(), v.minValue(0))

/** draft-ietf-oauth-identity-assertion-authz-grant-04 section 3.1, besides the claims that all assertions have. */
const claimsSchema = v.looseObject({
  client_id: v.pipe(v.string(), v.minLength(1), v.maxLength(2000)),
  iat: v.number(),
  jti: v.string(),
  resource: v.optional(v.union([resource, v.pipe(v.array(resource), v.minLength(1), v.maxLength(20))])),
  scope: v.optional(v.pipe(v.string(), v.maxLength(1000))),
  tenant: v.optional(identifier),
  auth_time: v.optional(time),
  acr: v.optional(context),
  amr: v.optional(v.pipe(v.array(v.pipe(v.string(), v.minLength(1), v.maxLength(50))), v.maxLength(20))),
})

/** The verified claims of an identity assertion. */
export type IdJagClaims = TrustedJwt['claims'] & v.InferOutput<typeof claimsSchema>

/** Claims whose meaning this server does not know, and which could narrow the assertion. */
const unsupported = ['aud_tenant', 'authorization_details'] as const

/** Returns the claims of an identity assertion, or the reason why it is refused. */
export function idJagClaims(
  claims: TrustedJwt['claims'],
): { readonly claims: IdJagClaims; readonly actor: Actor | undefined } | { readonly reason: string } {
  const unknown = unsupported.find((claim) => claims[claim] !== undefined)
  if (unknown !== undefined) return { reason: `${unknown}_unsupported` }
  const parsed = v.safeParse(claimsSchema, claims)
  if (!parsed.success) return { reason: `${String(parsed.issues[0].path?.[0]?.key)}_invalid` }
  try {
    return { claims: claims as IdJagClaims, actor: actorsIn(claims.act, claims.iss) }
  } catch (error) {
    if (v.isValiError(error)) return { reason: 'act_invalid' }
    throw error
  }
}
