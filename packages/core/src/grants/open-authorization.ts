import * as v from 'valibot'
import { configurationObject, lifetimeSchema } from '../config-schema.ts'
import type { Client } from '../directory/client.ts'
import type { ClientDirectory } from '../directory/client-directory.ts'
import { isRegistered, redirectUriProblem } from '../directory/redirect-uri.ts'
import { redirectUriDetail } from '../directory/shown-uri.ts'
import { OAuthError } from '../errors/oauth-error.ts'
import type { AuthorizationRequest } from '../parts/proposal.ts'
import type { Registry } from '../parts/registry.ts'
import { authorizationEntries } from '../records/authorization.ts'
import type { Audiences } from '../tokens/audience.ts'
import type { JsonObject } from '../types.ts'
import type { AuthorizationContributed, ReadAuthorization } from './contributions.ts'
import { audienceNotAllowed } from './policy.ts'
import type { ScopeRules } from './scope-rules.ts'

/** Creates the schemas of requests. On demand, so that a bundler can drop them. */
function createSchemas() {
  const entries = {
    kind: v.string(),
    clientId: v.string(),
    omitsRedirectUri: v.optional(v.boolean()),
    params: v.optional(v.record(v.string(), v.string())),
    confirmation: v.optional(v.record(v.string(), v.string())),
    redirectUri: authorizationEntries.redirectUri,
    scopes: v.optional(authorizationEntries.scopes),
    scope: v.optional(v.string()),
    demands: authorizationEntries.demands,
    requestedClaims: authorizationEntries.requestedClaims,
    nonce: v.optional(v.pipe(v.string(), v.maxLength(300))),
    clientEpoch: v.optional(v.nullable(v.string())),
    lifetime: v.optional(lifetimeSchema),
  }
  const suggestions = {
    codechallenge: 'params.code_challenge',
    codechallengemethod: 'params.code_challenge_method',
  }
  return {
    withRedirect: configurationObject({ ...entries, redirectUri: v.string() }, { suggestions }),
    withoutRedirect: configurationObject(entries, { suggestions }),
  }
}

export const refuse = (
  code: 'invalid_request' | 'unauthorized_client',
  text: string,
  reason: string,
  detail?: string,
): OAuthError => new OAuthError(code, text, { reason, detail })

/**
 * Describes the first mistake, for the developer of the login page. Contains no value, because the values come from a
 * browser.
 */
export function describeProblem(issues: readonly [v.BaseIssue<unknown>, ...v.BaseIssue<unknown>[]]): string {
  // An unknown key first: it often explains why a required one is missing.
  const issue = issues.find(({ expected }) => expected === 'never') ?? issues[0]
  const isOurs = issue.expected === 'never' || issue.message === 'is required'
  return `${v.getDotPath(issue) ?? 'The authorization'} ${isOurs ? issue.message : 'is malformed'}`
}

/** A checked request. */
export interface OpenRequest {
  readonly request: AuthorizationRequest
  readonly client: Client
  readonly grantType: string
  /** The rules that the request was checked with. */
  readonly rules: ScopeRules
  readonly scopes: readonly string[]
  readonly lifetime: number
  readonly contributed: AuthorizationContributed
}

/** @throws OAuthError for a challenge that no plugin reads: the grant could be redeemed without the verifier. */
function assertChallengeIsRead({ params }: AuthorizationRequest, grantType: string, registry: Registry): void {
  if (params?.code_challenge === undefined || registry.demandsBy(grantType, 'code_challenge')) return
  throw refuse('invalid_request', 'The code_challenge is not supported', 'challenge_unsupported')
}

/** Checks a request. @param known the client, if it was found just now */
export type OpenRequestFor = (request: AuthorizationRequest, known?: Client) => Promise<OpenRequest>

interface OpenRequestDeps {
  readonly registry: Registry
  readonly clients: ClientDirectory
  readonly scopeRules: () => ScopeRules
  readonly readAuthorization: ReadAuthorization
}

export function createOpenRequest(deps: OpenRequestDeps): OpenRequestFor {
  const { registry, clients, scopeRules, readAuthorization } = deps
  const schemas = createSchemas()

  /** @throws TypeError (a defect in the caller) when no plugin redeems grants of this kind. */
  function redeemerOf(kind: unknown) {
    const grant = typeof kind === 'string' && kind !== 'refresh' ? registry.redeemerOf(kind) : undefined
    if (grant?.stored !== undefined) return { grantType: grant.grantType, stored: grant.stored }
    throw new TypeError(`openAuthorization(): no plugin redeems stored grants of the kind ${String(kind)}`)
  }

  /**
   * Finds the client, and checks the redirect URI.
   *
   * @param problem the description of the mistake if `clientId` or `redirectUri` has the wrong type, which is a defect
   * in the login page.
   */
  async function clientOf(
    request: AuthorizationRequest,
    { grantType, stored }: ReturnType<typeof redeemerOf>,
    known: Client | undefined,
    problem = '',
  ): Promise<Client> {
    const { clientId, redirectUri }: Readonly<Record<string, unknown>> = { ...request }
    if (typeof clientId !== 'string') throw refuse('invalid_request', problem, 'client_unknown')
    const client = await clients.find(clientId, known)
    if (!client?.enabled) throw refuse('unauthorized_client', 'The client is not known', 'client_unknown')
    if (stored.redirect === true || redirectUri !== undefined) {
      if (typeof redirectUri !== 'string') throw refuse('invalid_request', problem, 'redirect_uri_mismatch')
      if (!isRegistered(redirectUri, client.redirectUris)) {
        const why = redirectUriProblem(redirectUri) ?? 'is not registered'
        const detail = redirectUriDetail(redirectUri, client.redirectUris)
        throw refuse('invalid_request', `The redirect_uri ${why}`, 'redirect_uri_mismatch', detail)
      }
    }
    if (!client.grantTypes.includes(grantType)) {
      throw refuse('unauthorized_client', `The client is not allowed to use ${grantType}`, 'grant_type_not_allowed')
    }
    return client
  }

  /** Returns what grant checks read from the request. */
  async function read(request: AuthorizationRequest, grantType: string, client: Client, lifetime: number) {
    const demands = (request.demands ?? {}) as JsonObject
    const demand = registry.requiredDemand(request.kind, client)
    const required = demand === undefined || demands[demand] !== undefined ? undefined : demand
    const { params = {}, confirmation: proved } = request
    const contributed = await readAuthorization(grantType, { client, params, required, confirmation: proved, lifetime })
    if (required !== undefined && contributed.demands[required] === undefined) {
      throw refuse('invalid_request', `The client requires ${required}`, `${required}_required`)
    }
    return { ...contributed, demands: { ...demands, ...contributed.demands } }
  }

  return async (input, known) => {
    const redeemer = redeemerOf(input?.kind)
    const { grantType } = redeemer
    const schema = redeemer.stored.redirect === true ? schemas.withRedirect : schemas.withoutRedirect
    const parsed = v.safeParse(schema, input, { abortPipeEarly: true })
    const problem = parsed.success ? undefined : describeProblem(parsed.issues)
    // A copy: what is stored later is what is checked here.
    const request = parsed.success ? (parsed.output as AuthorizationRequest) : input
    const client = await clientOf(request, redeemer, known, problem)
    if (problem !== undefined) throw refuse('invalid_request', problem, 'malformed_authorization_request')
    assertChallengeIsRead(request, grantType, registry)
    const rules = scopeRules()
    const proposed =
      request.scopes === undefined
        ? rules.policy.proposed(request.scope, client)
        : rules.policy.authorized(request.scopes, client)
    const lifetime = request.lifetime ?? client.authorizationCodeLifetime
    const contributed = await read(request, grantType, client, lifetime)
    const { audience } = contributed
    // Scopes of other resources would be shown to the user, and never be in a token.
    const scopes = audience === undefined ? proposed : rules.audiences.within(proposed, audience)
    assertAudience(contributed, scopes, rules.audiences)
    return { request, client, grantType, rules, scopes, lifetime, contributed }
  }
}

/** @throws OAuthError `invalid_target` if the request names an audience that none of the scopes has. */
export function assertAudience(
  { audience }: Pick<AuthorizationContributed, 'audience'>,
  scopes: readonly string[],
  audiences: Audiences,
): void {
  const allowed = audiences.listOf(scopes)
  if (audience?.every((api) => allowed.includes(api)) === false) throw audienceNotAllowed()
}
