import { type Contribution, defineGrantCheck, definePlugin, OAuthError, type Plugin } from '@grantry/core'
import * as v from 'valibot'

// `audienceOf` validates the form: RFC 8707 section 2 requires `invalid_target` for a malformed resource.
const params = v.object({ resource: v.optional(v.string()) })

// An absolute URI (RFC 3986 section 4.3): a scheme, and no fragment.
const absoluteUri = /^[A-Za-z][A-Za-z\d+.-]*:(?:[\w\-.~:/?[\]@!$&'()*+,;=]|%[\dA-Fa-f]{2})*$/u

const maxResources = 20
const maxLength = 2000

const refuse = (reason: string): OAuthError =>
  new OAuthError('invalid_target', 'The requested resource is not valid', {
    reason: `plugin:resource-indicators:${reason}`,
  })

/** Returns the resources of a request; `undefined` if it names none. Repeated parameters are joined with a space. */
function audienceOf({ resource }: v.InferOutput<typeof params>): Contribution | undefined {
  if (resource === undefined) return undefined
  const resources = resource.split(' ', maxResources + 1)
  if (resources.length > maxResources) throw refuse('too_many')
  if (resources.some((one) => one.length > maxLength)) throw refuse('too_long')
  if (!resources.every((one) => absoluteUri.test(one))) throw refuse('malformed')
  return { audience: [...new Set(resources)] }
}

const check = defineGrantCheck({
  grantTypes: 'all',
  params,
  authorization: { params, check: ({ params }) => audienceOf(params) },
  check: ({ params }) => audienceOf(params),
})

/**
 * Resource indicators: a client names the APIs that an access token is for, in the authorization request, the token
 * request, or both. A resource is compared, character by character, with the `audience` of the scopes. The core refuses
 * one that the scopes do not allow, and removes the scopes of other APIs from the token.
 *
 * @see RFC 8707; docs/decisions/0060-resources-are-the-audiences-of-scopes.md
 */
export const resourceIndicators = (): Plugin => definePlugin('resource-indicators', [check])
