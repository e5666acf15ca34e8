import { defineGrant, type GrantKit, type Kit, type Refuse, type Subject } from '@grantry/core'
import * as v from 'valibot'
import { audiencesIn, resourcesIn } from '../shared/resources.ts'
import { unprovedTimeOf } from '../shared/unproved-time.ts'
import type { IdJagDecision, IssueSettings } from './id-jag-options.ts'
import { comparable, idJagTokenType, idJagType } from './profile.ts'

type Server = IssueSettings['servers'][number]

const refusal = 'The token cannot be exchanged'

const params = v.object({
  requested_token_type: v.string(),
  subject_token: v.string(),
  subject_token_type: v.string(),
  audience: v.string(),
  resource: v.optional(v.string()),
  actor_token: v.optional(v.string()),
  authorization_details: v.optional(v.string()),
})

type Params = v.InferOutput<typeof params>

/** @throws TypeError when two servers, or two clients of one, have the same name. */
function assertServers({ servers }: IssueSettings): void {
  for (const [index, { issuer, clients }] of servers.entries()) {
    const where = `idJag(): issue.servers[${index}]`
    if (servers.findIndex((server) => comparable(server.issuer) === comparable(issuer)) < index) {
      throw new TypeError(`${where}.issuer is the same as an earlier one`)
    }
    const ids = clients.map(({ clientId }) => clientId)
    const repeated = ids.findIndex((id, at) => ids.indexOf(id) < at)
    if (repeated !== -1) throw new TypeError(`${where}.clients[${repeated}].clientId is the same as an earlier one`)
  }
}

const noTarget = (reason: string, refuse: Refuse) =>
  refuse('invalid_target', 'The requested resource is not allowed', reason)

/** @throws OAuthError `invalid_request` for a parameter whose meaning would be lost. */
function assertSupported(params: Params, refuse: Refuse): void {
  const { actor_token, authorization_details, requested_token_type } = params
  const problem =
    requested_token_type !== idJagTokenType
      ? 'requested_token_type'
      : actor_token !== undefined
        ? 'actor_token'
        : authorization_details !== undefined
          ? 'authorization_details'
          : undefined
  if (problem === undefined) return
  throw refuse('invalid_request', `The ${problem} is not supported`, `${problem}_unsupported`)
}

/** Returns the resources that the assertion is for, as they are configured. */
function targetsIn({ resource }: Params, { resources }: Server, refuse: Refuse): readonly string[] {
  if (resource === undefined) {
    if (resources.length > 1) throw noTarget('resource_missing', refuse)
    return resources
  }
  return resourcesIn(resource, refuse).map((requested) => {
    const configured = resources.find((known) => comparable(known) === comparable(requested))
    if (configured === undefined) throw noTarget('resource_not_allowed', refuse)
    return configured
  })
}

/** A valid token of the client about a user. */
async function read({ subject_token: token, subject_token_type: type }: Params, kit: GrantKit) {
  const refuse = (reason: string) => kit.refuse('invalid_request', refusal, reason)
  if (type === 'urn:ietf:params:oauth:token-type:id_token') {
    const origin = await kit.validateToken(token, 'id_token')
    if (origin === undefined) throw refuse('id_token_invalid')
    kit.assertClient(origin.clientId)
    const { sub, amr, auth_time: authTime, acr, idp, sid } = origin.claims
    const mark = unprovedTimeOf(origin.claims)
    return { origin, sid, mark, subject: { sub, amr, authTime, idp, ...(acr !== undefined && { acr }) } as Subject }
  }
  if (type === 'urn:ietf:params:oauth:token-type:refresh_token') {
    const origin = await kit.findGrant('refresh', token)
    if (origin === undefined) throw refuse('refresh_token_invalid')
    kit.assertClient(origin.clientId)
    // Without OpenID, the user has not signed in to the client. With an actor, the assertion would hide it.
    if (!origin.scopes.includes('openid')) throw refuse('not_a_sign_in')
    if (origin.act !== undefined) throw refuse('actor_delegated')
    // Access while the user is away: it outlives a session.
    return { origin, sid: undefined, mark: unprovedTimeOf(origin.claims), subject: origin.subject }
  }
  throw kit.refuse('invalid_request', 'The subject_token_type is not supported', 'subject_token_type_unsupported')
}

/** @throws OAuthError `insufficient_user_authentication` with what the client must ask for (RFC 9470 section 3). */
function assertAuthentication(
  { acr, authTime = 0 }: Subject,
  provesTime: boolean,
  { acrValues, maxAge }: Server,
  kit: Kit,
): void {
  const reached = acrValues === undefined || (acr !== undefined && acrValues.includes(acr))
  const isRecent = maxAge === undefined || (provesTime && kit.now() - authTime <= maxAge)
  if (reached && isRecent) return
  throw kit.refuse(
    'insufficient_user_authentication',
    'The user must sign in again',
    reached ? 'authentication_too_old' : 'acr_not_reached',
    {
      members: {
        ...(acrValues !== undefined && { acr_values: acrValues.join(' ') }),
        ...(maxAge !== undefined && { max_age: maxAge }),
      },
    },
  )
}

/**
 * Issues identity assertions by token exchange.
 *
 * @throws TypeError with one sentence for a mistake in the settings.
 * @see draft-ietf-oauth-identity-assertion-authz-grant-04 section 4.3; MCP Enterprise-Managed Authorization section 4
 */
export function issuingGrant(settings: IssueSettings) {
  assertServers(settings)
  const { lifetime, checkSessions, allow = () => true } = settings
  const servers = new Map(settings.servers.map((server) => [comparable(server.issuer), server]))

  return defineGrant({
    grantType: 'urn:ietf:params:oauth:grant-type:token-exchange',
    variant: { parameter: 'requested_token_type', matches: (type) => type === idJagTokenType },
    params,
    refusal,
    refusalCode: 'invalid_request',
    scope: 'foreign',
    async handle({ client, params, scopes: requested, confirmation }, kit) {
      const { refuse } = kit
      assertSupported(params, refuse)
      const [audience = '', ...more] = audiencesIn(params.audience, refuse)
      const server = more.length === 0 ? servers.get(comparable(audience)) : undefined
      const registered = server?.clients.find(({ clientId }) => clientId === client.clientId)
      // The same response for both: it must not reveal which servers there are.
      if (server === undefined || registered === undefined) throw noTarget('audience_not_allowed', refuse)
      const resources = targetsIn(params, server, refuse)
      const { origin, sid, mark, subject } = await read(params, kit)
      assertAuthentication(subject, mark === undefined, server, kit)
      const offered = registered.scopes.filter((name) => requested.length === 0 || requested.includes(name))
      const request = { client, subject, audience: server.issuer, resources, scopes: offered }
      const decision = await kit.callHost('idJag.allow', () => allow(request))
      if (decision === false || decision === undefined) throw noTarget('not_allowed', refuse)
      const allowed: IdJagDecision = decision === true ? {} : decision
      const scopes = offered.filter((name) => allowed.scopes?.includes(name) ?? true)
      if (scopes.length === 0) throw refuse('invalid_scope', 'The scope is not valid', 'scope_not_allowed')
      const [first = '', ...others] = resources
      return {
        subject,
        continuesFamilyOf: origin,
        ...(checkSessions && sid !== undefined && { demands: { session: { sid: String(sid) } } }),
        assertion: {
          typ: idJagType,
          tokenType: idJagTokenType,
          audience: server.issuer,
          scopes,
          lifetime,
          claims: {
            ...allowed.claims,
            ...mark,
            client_id: registered.as ?? client.clientId,
            resource: others.length === 0 ? first : resources,
            ...(confirmation?.jkt !== undefined && { cnf: { jkt: confirmation.jkt } }),
          },
        },
      }
    },
  })
}
