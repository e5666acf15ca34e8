import { configurationObject, defineGrantCheck, type Kit, type MaybePromise } from '@grantry/core'
import * as v from 'valibot'
import { requiredFunctionSchema } from '../shared/config-schema.ts'

/** The organizations that users belong to, for one issuer that serves several. */
export interface Organizations {
  /** Whether a user is a member of an organization. Any other result than `true` means no. */
  readonly isMember: (sub: string, organization: string) => MaybePromise<boolean>
}

export const organizationsSchema = v.optional(
  configurationObject({
    isMember: requiredFunctionSchema<Organizations['isMember']>(),
  }),
)

const prefix = 'tenant:'

/** As for the parameters of the password grant. */
const maxLength = 300

/** Returns the tenant that a request names by `acr_values` (seed, section 2.1), if it names one. */
export function requestedTenant(acrValues: readonly string[]): string | undefined {
  const name = acrValues.find((value) => value.startsWith(prefix))?.slice(prefix.length)
  return name === '' ? undefined : name
}

/** Whether a user is a member of an organization at this moment. */
async function isMemberOf(organizations: Organizations, sub: string, organization: string, kit: Kit): Promise<boolean> {
  if (organization.length > maxLength) return false
  const isMember = await kit.callHost('organizations.isMember', () => organizations.isMember(sub, organization))
  return isMember === true
}

/**
 * Returns the claims that name the organization of a request. Call it only with `organizations`: a name that nothing has
 * checked is in no token.
 *
 * @throws OAuthError `access_denied` unless the user is a member
 */
export async function organizationClaims(
  organizations: Organizations,
  sub: string,
  acrValues: readonly string[],
  kit: Kit,
): Promise<{ readonly organization: string } | undefined> {
  const organization = requestedTenant(acrValues)
  if (organization === undefined) return undefined
  if (await isMemberOf(organizations, sub, organization, kit)) return { organization }
  throw kit.refuse('access_denied', 'The user is not a member of the requested organization', 'not_a_member')
}

const tokenExchange = 'urn:ietf:params:oauth:grant-type:token-exchange'

/**
 * Returns the part that asks again before each token that names an organization: at a refresh, at the redemption of a
 * code, and at a token exchange. The refresh token stays valid: a user who becomes a member again can use it.
 *
 * @see RFC 6749 section 5.2, RFC 8693 section 2.2.2
 */
export const membershipCheck = (organizations: Organizations) =>
  defineGrantCheck({
    grantTypes: 'all',
    params: v.object({}),
    async check({ subject, claims, grantType }, kit) {
      const organization = claims?.organization
      if (subject === undefined || organization === undefined) return
      if (typeof organization === 'string' && (await isMemberOf(organizations, subject.sub, organization, kit))) return
      const code = grantType === tokenExchange ? 'invalid_request' : 'invalid_grant'
      throw kit.refuse(code, 'The user is not a member of the organization', 'not_a_member')
    },
  })
