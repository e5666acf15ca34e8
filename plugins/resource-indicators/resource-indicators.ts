import { type Contribution, defineGrantCheck, definePlugin, type Kit, type Plugin } from '@grantry/core'
import * as v from 'valibot'
import { resourcesIn } from '../shared/resources.ts'

// `resourcesIn` validates the form: RFC 8707 section 2 requires `invalid_target` for a malformed resource.
const params = v.object({ resource: v.optional(v.string()) })

/** RFC 8693 section 2.1 defines `resource` for it, together with `audience`. */
const tokenExchange = 'urn:ietf:params:oauth:grant-type:token-exchange'

const audienceOf = ({ resource }: v.InferOutput<typeof params>, kit: Kit): Contribution | undefined =>
  resource === undefined ? undefined : { audience: resourcesIn(resource, kit.refuse).map(kit.audienceOf) }

const check = defineGrantCheck({
  grantTypes: 'all',
  params,
  authorization: { params, check: ({ params }, kit) => audienceOf(params, kit) },
  check: ({ grantType, params }, kit) => (grantType === tokenExchange ? undefined : audienceOf(params, kit)),
})

/**
 * Resource indicators: a client names the APIs that an access token is for, in the authorization request, the token
 * request, or both. A resource is compared, as an equivalent URI, with the `audience` of the scopes. The core refuses
 * one that the scopes do not allow, and removes the scopes of other APIs from the token.
 *
 * @see RFC 8707; docs/decisions/0060-resources-are-the-audiences-of-scopes.md
 */
export const resourceIndicators = (): Plugin => definePlugin('resource-indicators', [check])
