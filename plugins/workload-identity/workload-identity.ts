import {
  type Client,
  defineClientAuthentication,
  defineFields,
  defineGrant,
  definePlugin,
  type Kit,
  type MembersOf,
  member,
  type Plugin,
  type PresentedCredentials,
  parseConfiguration,
} from '@grantry/core'
import { decodeJwt } from 'jose/jwt/decode'
import * as v from 'valibot'
import { unverifiedJwt } from '../shared/verify-jwt.ts'
import { createRuleCheck } from './client-rule.ts'
import { allTypes, trustDomainOf, workloadRuleSchema } from './platforms.ts'
import { createWorkloadTokens, type WorkloadTokens } from './tokens.ts'
import { type WorkloadIdentityOptions, workloadIdentitySchema, workloadIssuersOf } from './workload-options.ts'

const refusal = 'The assertion is not valid'

// No length limit here: an overlong assertion is refused with `invalid_grant`, like every other one.
const params = v.object({ assertion: v.string() })

/**
 * The token of a workload as an assertion of the JWT bearer grant, for clients that name only their id with it. The client
 * gets tokens for itself: there is no user.
 *
 * @see RFC 7523 section 2.1; MCP SEP-1933
 */
const workloadGrant = (tokens: WorkloadTokens) =>
  defineGrant({
    grantType: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
    variant: { parameter: 'assertion', matches: tokens.isOwn },
    params,
    refusal,
    scope: 'optional',
    defaultScopes: ({ scopes }) => scopes,
    publicClients: true,
    withoutUser: true,
    async handle({ client, params: { assertion }, scopes }, kit) {
      const outcome = await tokens.verify(assertion, client, kit)
      if (outcome !== true) throw kit.refuse('invalid_grant', refusal, outcome.reason, { detail: outcome.detail })
      return { scopes }
    },
  })

const clientMembers = {
  /** The rule for the tokens of an issuer that authenticate the client. */
  workload: member(v.optional(workloadRuleSchema), {
    title: 'Workload',
    text: 'Whose tokens authenticate it, without a secret: an object with the issuer, and the subject and claims that must match.',
    group: 'keys',
  }),
}

declare module '@grantry/core' {
  interface ClientMembers extends MembersOf<typeof clientMembers> {}
}

export type { SendRequest } from '../shared/fetched-uri.ts'
export type { Patterns } from './patterns.ts'
export type { PlatformName, WorkloadRule } from './platforms.ts'
export { type WorkloadIdentityOptions, workloadIdentitySchema } from './workload-options.ts'

const consumes = ['client_assertion', 'client_assertion_type']
const types = 'urn:ietf:params:oauth:client-assertion-type:'

interface PresentedToken extends PresentedCredentials {
  readonly jwt: string
}

const missing = 'a workload is not named by its token: the request needs client_id'

/**
 * Reads a token without verifying it. Without `client_id`, a client can have its SPIFFE ID as its id.
 *
 * @throws OAuthError `invalid_client` if the token is malformed, or the request names no client.
 */
function presentedToken(jwt: string, clientId: string | undefined, { refuse }: Kit): PresentedToken {
  const { payload, reason } = unverifiedJwt(jwt, allTypes)
  const refused = (why: string, facts = {}) => refuse('invalid_client', 'Client authentication failed', why, facts)
  if (payload === undefined) throw refused(reason)
  if (clientId !== undefined) return { clientId, jwt }
  const { sub } = payload
  if (typeof sub !== 'string' || trustDomainOf(sub) === undefined)
    throw refused('client_id_missing', { detail: missing })
  return { clientId: sub, jwt }
}

/** Whether an assertion is not one that a client has signed itself, whose `iss` and `sub` are its id (RFC 7523). */
function isFromIssuer(jwt: string): boolean {
  try {
    const { iss, sub } = decodeJwt(jwt)
    return iss !== sub
  } catch {
    return false
  }
}

function methodFor(
  method: string,
  {
    tokens,
    isPresented,
    isSvid,
  }: {
    readonly tokens: WorkloadTokens
    readonly isPresented: (type: string | undefined, jwt: string) => boolean
    readonly isSvid?: boolean
  },
) {
  return defineClientAuthentication<PresentedToken>({
    method,
    consumes,
    selective: true,
    unguessable: true,
    present({ client_assertion: jwt, client_assertion_type: type, client_id: clientId }, _request, kit) {
      return jwt !== undefined && isPresented(type, jwt) ? presentedToken(jwt, clientId, kit) : undefined
    },
    accepts: ({ workload, public: isPublic }: Client) => workload !== undefined && !isPublic,
    verify: ({ jwt }, client, kit) => tokens.verify(jwt, client, kit, isSvid),
  })
}

/**
 * Client authentication by tokens that a platform issues to its workloads: Kubernetes, SPIFFE, GitHub Actions, GitLab CI and
 * others. The client has no secret, but a rule that the claims of the token must match.
 *
 * @throws TypeError with one sentence for a mistake in the options.
 * @see RFC 7523 section 2.2; draft-ietf-oauth-spiffe-client-auth
 */
export function workloadIdentity(options: WorkloadIdentityOptions): Plugin {
  const settings = parseConfiguration(workloadIdentitySchema, options, 'workloadIdentity()')
  const issuers = workloadIssuersOf(settings)
  const tokens = createWorkloadTokens(settings, issuers)
  const algorithms = [...new Set([...issuers.values()].flatMap((issuer) => issuer.algorithms))]
  const hasSpiffe = [...issuers.values()].some(({ platform }) => platform === 'spiffe')
  return definePlugin('workload-identity', [
    defineFields({
      client: clientMembers,
      checkClient: createRuleCheck(issuers),
      checkIssuer: (issuer) =>
        issuers.has(issuer)
          ? 'issuers must not contain this provider: its tokens are not those of workloads'
          : undefined,
      metadata: {
        token_endpoint_auth_signing_alg_values_supported: algorithms,
        revocation_endpoint_auth_signing_alg_values_supported: algorithms,
      },
    }),
    methodFor('workload_jwt', {
      tokens,
      isPresented: (type, jwt) => type === `${types}jwt-bearer` && isFromIssuer(jwt),
    }),
    ...(hasSpiffe
      ? [methodFor('spiffe_jwt', { tokens, isPresented: (type) => type === `${types}jwt-spiffe`, isSvid: true })]
      : []),
    ...(settings.grant ? [workloadGrant(tokens)] : []),
  ])
}
