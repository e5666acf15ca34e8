import type { ClientAuthentication } from '../credentials/client.ts'
import type { ScopeDirectory } from '../directory/scopes.ts'
import { isActive, type UserService } from '../directory/user-service.ts'
import { isOAuthError, OAuthError } from '../errors/oauth-error.ts'
import type { Recorder, Trace } from '../events/trace.ts'
import { openTraceContext, traceparentOf, tracestateOf } from '../events/trace-context.ts'
import { jsonAnswer } from '../http/answer.ts'
import type { RequestParameters } from '../http/parameters.ts'
import { parseFields } from '../http/parse-fields.ts'
import { readParameters } from '../http/read-parameters.ts'
import type { AuthenticatedClient, Grant, GrantRequest, RequestFacts } from '../plugin/grant.ts'
import type { GrantCheck } from '../plugin/grant-check.ts'
import type { GrantKit } from '../plugin/grant-kit.ts'
import {
  assertWithinPolicy,
  type CheckedResult,
  defaultRefusal,
  parseGrantResult,
  refusalOf,
} from '../plugin/grant-result.ts'
import type { Registry } from '../plugin/registry.ts'
import { hashOf } from '../records/keys.ts'
import type { Runtime } from '../runtime.ts'
import type { Commit, Spending } from '../tokens/commit.ts'
import type { FailedProofs } from '../tokens/failed-proofs.ts'
import type { CreateGrantKit } from '../tokens/grant-kit.ts'
import type { Mint } from '../tokens/mint.ts'
import type { Endpoint } from './endpoint.ts'
import { requestedScopes, wordsOfScope } from './scope-parameter.ts'

export interface TokenEndpointDeps {
  readonly authenticateClient: ClientAuthentication
  readonly registry: Registry
  readonly scopes: ScopeDirectory
  readonly users: UserService
  readonly createKit: CreateGrantKit
  readonly mint: Mint
  readonly failedProofs: FailedProofs
  readonly commit: Commit
  readonly recorder: Recorder
  readonly runtime: Runtime
  readonly bodyLimit: number
}

const coreParameters: ReadonlySet<string> = new Set(['grant_type', 'client_id', 'client_secret', 'scope'])

/** The facts about the request that a grant can read. They do not include the client's credentials. */
const factsOf = (request: Request, { clientAddress, context }: Trace, runtime: Runtime): RequestFacts => ({
  header: (name) => (name.toLowerCase() === 'authorization' ? null : request.headers.get(name)),
  clientAddress,
  // Computed on demand, because most grants make no outgoing call. Not a getter, which would cost 14 microseconds for
  // each token, mostly in garbage collection.
  trace: () => {
    const tracestate = tracestateOf(request.headers)
    const traceparent = traceparentOf(context ?? openTraceContext(request.headers, runtime))
    return { traceparent, ...(tracestate !== undefined && { tracestate }) }
  },
})

/**
 * `POST /connect/token`: issues tokens. `handle` contains the checks in order.
 *
 * @see RFC 6749 section 3.2; wire contract, section 3
 */
export function tokenEndpoint(deps: TokenEndpointDeps): Endpoint {
  const {
    authenticateClient,
    registry,
    scopes: directory,
    users,
    createKit,
    mint,
    failedProofs,
    commit,
    recorder,
    runtime,
  } = deps

  function grantFor(grantType: string | undefined, client: AuthenticatedClient): Grant {
    if (grantType === undefined) {
      throw new OAuthError('invalid_request', 'The parameter grant_type is required', { reason: 'grant_type_missing' })
    }
    const grant = registry.grants.get(grantType)
    if (grant === undefined) {
      throw new OAuthError('unsupported_grant_type', 'The grant type is not supported', {
        reason: 'grant_type_unknown',
      })
    }
    if (!client.grantTypes.includes(grantType) || (client.public && grant.publicClients !== true)) {
      throw new OAuthError('unauthorized_client', 'The client is not allowed to use this grant type', {
        reason: 'grant_type_not_allowed',
      })
    }
    return grant
  }

  /**
   * Runs every check of the grant type, and refuses if a demand remains unsettled. Counts failed proofs, which end a
   * code at the tenth.
   */
  async function settleDemands(
    grant: Grant,
    result: CheckedResult,
    checks: readonly { check: GrantCheck; params: unknown }[],
    request: Omit<GrantRequest<unknown>, 'params'>,
    kitOf: (check: GrantCheck) => GrantKit,
    trace: Trace,
  ): Promise<void> {
    const unsettled = new Set(Object.keys(result.demanded))
    for (const { check, params } of checks) {
      const demand = result.demanded[check.settles]
      try {
        await check.check({ ...request, params, demand: demand as never }, kitOf(check))
      } catch (error) {
        const isFailedProof = demand !== undefined && isOAuthError(error) && error.code === 'invalid_grant'
        if (isFailedProof && result.stored !== undefined)
          await failedProofs.record(result.stored, request.client, trace)
        throw error
      }
      unsettled.delete(check.settles)
    }
    if (unsettled.size > 0) throw refusalOf(grant, 'demand_unsettled')
  }

  async function assertActive(grant: Grant, sub: string): Promise<void> {
    if (!(await isActive(users, sub))) throw refusalOf(grant, 'user_inactive')
  }

  /**
   * Returns a hash that identifies a retry of the same request: the client, the scope, and the parameters that the
   * grant and its checks declare. Other parameters are ignored (RFC 6749 section 3.2).
   */
  function identityOf(client: AuthenticatedClient, form: RequestParameters): string {
    const { grant_type: grantType = '', scope } = form
    const asked = Object.entries(ownFields(form)).filter(([name]) => registry.declares(grantType, name))
    asked.sort(([one], [other]) => (one < other ? -1 : 1))
    return hashOf(JSON.stringify([client.clientId, grantType, wordsOfScope(scope ?? '').sort(), asked]), runtime)
  }

  /** Returns the parameters for plugins: without those of the core, above all the client secret. */
  function ownFields(form: RequestParameters): RequestParameters {
    const fields: Record<string, string> = Object.create(null)
    for (const name in form) if (!coreParameters.has(name)) fields[name] = form[name] ?? ''
    return fields
  }

  return {
    name: 'token',
    methods: ['POST'],
    presents: 'client',
    cors: 'clients',
    async handle(request, trace) {
      const form = await readParameters(request, deps.bodyLimit)
      const client = await authenticateClient(request, form, trace)
      const grant = grantFor(form.grant_type, client)
      const { grantType } = grant
      const fields = ownFields(form)
      const params = parseFields(grant.params, fields)
      const checks = registry.checksOf(grantType).map((check) => ({ check, params: parseFields(check.params, fields) }))
      const scopes = requestedScopes(form.scope, grant, client, directory)
      const facts = factsOf(request, trace, runtime)
      const { kit, kitOf, found, validated } = createKit(grantType, client, trace)

      const result = parseGrantResult(await grant.handle({ client, params, scopes, request: facts }, kit), grant, found)
      trace.sub = result.subject?.sub
      if (checks.length > 0 || Object.keys(result.demanded).length > 0) {
        await settleDemands(grant, result, checks, { client, scopes, request: facts }, kitOf, trace)
      }
      assertWithinPolicy(result, { grant, client, scopes, directory })
      if (result.subject !== undefined) await assertActive(grant, result.subject.sub)

      const spending: Spending = {
        client,
        redemptions: result.redeems,
        continues: result.continues,
        request: result.stored === undefined ? '' : identityOf(client, form),
        refusal: grant.refusal ?? defaultRefusal,
        trace,
      }
      const replay = await commit.replayOf(spending)
      if (replay !== undefined) return jsonAnswer(replay)
      const minted = await mint(result, client, grantType, validated)
      const response = await commit.spend(spending, minted)
      if (response === minted.response) for (const fact of minted.facts) recorder.record(trace, fact)
      return jsonAnswer(response)
    },
  }
}
