import { type AuthenticatedClient, defineGrant, type GrantKit, type Kit, type Subject } from '@grantry/core'
import * as v from 'valibot'
import { createTrustedIssuers } from '../shared/trusted-issuers.ts'
import { isTimeUnproved, unprovedTime } from '../shared/unproved-time.ts'
import { type IdJagClaims, idJagClaims } from './id-jag-claims.ts'
import type { AcceptSettings } from './id-jag-options.ts'
import { comparable, idJagType, isIdJag } from './profile.ts'

type IdentityProvider = AcceptSettings['issuers'][number]

const refusal = 'The assertion is not valid'

// No length limit here: an overlong assertion is refused with `invalid_grant`, like every other one.
const params = v.object({ assertion: v.string() })

/** Section 4.4.1: the issuer, and nothing else. Many libraries write an issuer without a path with a slash at its end. */
const audienceOf = ({ issuer }: Kit): readonly string[] =>
  comparable(issuer) === `${issuer}/` ? [issuer, `${issuer}/`] : [issuer]

/** The longest `idp` of a subject. */
const maxIssuerLength = 200

/** @throws TypeError when two users of an issuer with several tenants could become one, or its name is too long for tokens. */
function assertIssuers({ issuers }: AcceptSettings): void {
  for (const [index, { issuer, subject, tenants = [] }] of issuers.entries()) {
    if (issuer.length > maxIssuerLength) {
      throw new TypeError(
        `idJag(): accept.issuers[${index}].issuer must have at most ${maxIssuerLength} characters: tokens name it in idp`,
      )
    }
    if (subject === 'same' && tenants.length > 1) {
      throw new TypeError(
        `idJag(): accept.issuers[${index}].subject cannot be "same" with several tenants: they can have users with an equal sub`,
      )
    }
  }
}

/** Returns the user without asking the host. Never by e-mail address: it can belong to another user later. */
const userOf = ({ iss, tenant, sub }: IdJagClaims, { subject }: IdentityProvider, kit: Kit): string =>
  subject === 'same' ? sub : kit.sha256(JSON.stringify([iss, tenant ?? null, sub]))

/** How the identity provider has authenticated the user. */
const loginOf = ({ iss, iat, auth_time: authTime = iat, acr, amr = [] }: IdJagClaims, kit: Kit) => ({
  amr: amr.length === 0 ? ['assertion'] : amr,
  idp: iss,
  authTime: Math.floor(Math.min(authTime, iat, kit.now())),
  ...(acr !== undefined && { acr }),
})

/** Returns the scopes that the request asks for and the identity provider has allowed. */
function scopesOf(requested: readonly string[], { scope }: IdJagClaims, { scopes: limit }: IdentityProvider) {
  const allowed = scope?.split(' ') ?? limit ?? []
  // Without a refresh token: a new assertion replaces it (section 4.4.3).
  return requested.filter(
    (name) => allowed.includes(name) && (limit === undefined || limit.includes(name)) && name !== 'offline_access',
  )
}

/**
 * Accepts identity assertions on the grant type of JWT bearer assertions.
 *
 * @throws TypeError with one sentence for a mistake in the settings.
 * @see draft-ietf-oauth-identity-assertion-authz-grant-04 section 4.4; MCP Enterprise-Managed Authorization section 5
 */
export function acceptingGrant(settings: AcceptSettings) {
  assertIssuers(settings)
  const { subject: subjectOf, requireResource } = settings
  const issuers = createTrustedIssuers(
    { ...settings, issuers: settings.issuers.map((issuer) => ({ ...issuer, requireJti: true })) },
    'idJag(): accept',
    audienceOf,
  )
  const known = new Map(settings.issuers.map((provider) => [provider.issuer, provider]))

  /** @throws OAuthError `invalid_grant` */
  async function verified(assertion: string, kit: GrantKit) {
    const refuse = (reason: string) => kit.refuse('invalid_grant', refusal, reason)
    const outcome = await issuers.verify(assertion, [idJagType], kit)
    if ('reason' in outcome) throw refuse(outcome.reason)
    // After the reasons of every JWT, such as `too_long`.
    if (outcome.typ !== idJagType) throw refuse('typ_unsupported')
    const read = idJagClaims(outcome.claims)
    if ('reason' in read) throw refuse(read.reason)
    const { claims, actor } = read
    const provider = known.get(claims.iss)
    if (provider === undefined || outcome.singleUse === undefined) throw refuse('issuer_unknown')
    if ([claims.aud].flat().length !== 1) throw refuse('aud_invalid')
    // Otherwise, any tenant of a shared identity provider could name its own users.
    const tenants: readonly unknown[] = provider.tenants ?? [undefined]
    if (!tenants.includes(claims.tenant)) throw refuse('tenant_not_allowed')
    kit.assertClient(claims.client_id)
    if (claims.resource === undefined && requireResource) throw refuse('resource_missing')
    return { claims, actor, provider, singleUse: outcome.singleUse }
  }

  async function subjectIn(
    claims: IdJagClaims,
    provider: IdentityProvider,
    client: AuthenticatedClient,
    kit: GrantKit,
  ): Promise<Subject> {
    if (subjectOf === undefined) return { sub: userOf(claims, provider, kit), ...loginOf(claims, kit) }
    const subject = await kit.callHost('idJag.subject', () => subjectOf(claims, client))
    if (subject === undefined) throw kit.refuse('invalid_grant', refusal, 'subject_unknown')
    return subject
  }

  return defineGrant({
    grantType: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
    variant: { parameter: 'assertion', matches: isIdJag },
    params,
    refusal,
    scope: 'optional',
    defaultScopes: ({ scopes }) => scopes,
    async handle({ client, params: { assertion }, scopes: requested }, kit) {
      const { claims, actor, provider, singleUse } = await verified(assertion, kit)
      const scopes = scopesOf(requested, claims, provider)
      if (scopes.length === 0) throw kit.refuse('invalid_scope', 'The scope is not valid', 'scope_not_granted')
      const subject = await subjectIn(claims, provider, client, kit)
      const resources = claims.resource === undefined ? undefined : [claims.resource].flat().map(kit.audienceOf)
      return {
        subject,
        scopes,
        issue: { refreshToken: false },
        redeems: [kit.redemption(singleUse.id, singleUse.expiresAt)],
        ...(resources !== undefined && { audience: resources }),
        ...(actor !== undefined && { actor }),
        ...(isTimeUnproved(claims) && { claims: unprovedTime }),
      }
    },
  })
}
