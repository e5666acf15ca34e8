import * as v from 'valibot'
import { settle } from '../abuse/settlement.ts'
import { type ActiveQuestion, isActive, withClaims } from '../directory/user-service.ts'
import { OAuthError } from '../errors/oauth-error.ts'
import type { CommitRequest } from '../grants/commit-request.ts'
import type { PreparedCheck } from '../grants/contributions.ts'
import type { Issuance } from '../grants/issuance.ts'
import type { Minted } from '../grants/mint.ts'
import { assertWithinPolicy, narrowScopes } from '../grants/policy.ts'
import { type CheckedResult, parseGrantResult, refusalOf } from '../grants/result.ts'
import { wordsOfScope } from '../grants/scope-policy.ts'
import { parseFields, type RequestParameters } from '../http/parameters.ts'
import type { AuthenticatedClient, Confirmation, Grant } from '../parts/grant.ts'
import type { OwnedPart } from '../parts/plugin.ts'
import type { Registry } from '../parts/registry.ts'
import type { Schema } from '../standard-schema.ts'
import type { RequestMarks } from '../tokens/revocation-mark.ts'
import { builtIn } from './core-endpoint.ts'

/** Returns the parameters for plugins. The pipeline has removed the credentials of the client. */
function pluginParameters(form: RequestParameters): RequestParameters {
  const parameters: Record<string, string> = Object.create(null)
  for (const name in form) if (name !== 'grant_type' && name !== 'scope') parameters[name] = form[name] ?? ''
  return parameters
}

function grantFor(
  grantType: string | undefined,
  client: AuthenticatedClient,
  parameters: RequestParameters,
  registry: Registry,
): OwnedPart<Grant> {
  if (grantType === undefined) {
    throw new OAuthError('invalid_request', 'The parameter grant_type is required', {
      reason: 'grant_type_missing',
    })
  }
  const grant = registry.grantFor(grantType, parameters)
  if (grant === undefined) {
    throw new OAuthError('unsupported_grant_type', 'The grant type is not supported', {
      reason: 'grant_type_unknown',
    })
  }
  if (!client.grantTypes.includes(grantType) || (client.public && grant.part.publicClients !== true)) {
    throw new OAuthError('unauthorized_client', 'The client is not allowed to use this grant type', {
      reason: 'grant_type_not_allowed',
    })
  }
  return grant
}

/**
 * Returns what identifies a retry of the same request: the client, its keys, the scope, and the parameters
 * that the grant and its checks declare. Other parameters are ignored (RFC 6749 section 3.2).
 */
function identityOf(
  { clientId }: AuthenticatedClient,
  confirmation: Confirmation | undefined,
  grantType: string,
  form: RequestParameters,
  { declares }: Registry,
): unknown {
  const declared = Object.entries(pluginParameters(form)).filter(([name]) => declares(grantType, name))
  declared.sort(([left], [right]) => (left < right ? -1 : 1))
  const scopes = wordsOfScope(form.scope ?? '').sort()
  return [clientId, confirmation, grantType, scopes, declared]
}

/** Returns the question whether the user of the tokens is active. */
function questionOf(
  { subject, stored }: CheckedResult,
  validatedTokens: readonly unknown[],
  marks: RequestMarks,
): ActiveQuestion | undefined {
  if (subject === undefined) return undefined
  // Tokens of a stored grant carry the mark of the grant, so no other mark is read.
  if (stored === undefined) marks.readEarly(subject.sub)
  // A token that the grant has validated, or a right password, has just shown that the user is active. The mark
  // revokes the new tokens if that has changed since.
  return withClaims(stored === undefined && validatedTokens.length === 0 && !marks.hasProved(subject.sub))
}

/**
 * `POST /connect/token`: issues tokens. `handle` contains the checks in order.
 *
 * @see RFC 6749 section 3.2; wire contract, section 3
 */
export const tokenEndpoint = builtIn(
  {
    name: 'token',
    path: '/connect/token',
    metadataName: 'token_endpoint',
    methods: ['POST'],
    caller: 'client',
    cors: 'clients',
    readsProofs: true,
    issuesTokens: true,
    // Each grant has its own schema.
    params: v.any() as Schema<RequestParameters>,
  },
  ({ registry, scopeRules, users, createKit, mint, mintAssertion, settleDemands, commit, store, runtime }) => {
    return async ({ caller: client, params: form, facts, confirmation, usable = [] }, _kit, trace) => {
      const parameters = pluginParameters(form)
      const { plugin, part: grant } = grantFor(form.grant_type, client, parameters, registry)
      const { grantType } = grant
      const refuse = (reason: string): OAuthError => refusalOf(grant, reason)
      const params = await parseFields(grant.params, parameters)
      const { kit, kitFor, foundGrants, validatedTokens, marks, unsettled } = createKit({
        plugin,
        client,
        confirmation,
        refuse,
        trace,
      })
      const checks: PreparedCheck[] = []
      // One after another: if one is refused, none is left in progress.
      for (const check of registry.checksOf(grantType)) {
        checks.push({ check, params: await parseFields(check.part.params, parameters), kit: kitFor(check.plugin) })
      }
      const rules = scopeRules()
      const scopes =
        form.scope === undefined && grant.defaultScopes !== undefined
          ? rules.policy.available(grant.defaultScopes(client), client)
          : rules.policy.requested(form.scope, grant, client)
      // The core compares the result with them.
      Object.freeze(scopes)
      // Spread last: on Node 20, adding a member after a spread takes half a microsecond (bench/PROFILE.md).
      const grantRequest = { client, scopes, request: facts(), confirmation }

      try {
        const result = parseGrantResult(await grant.handle({ params, ...grantRequest }, kit), grant, foundGrants)
        trace.sub = result.subject?.sub
        const contributed = await settleDemands(result, checks, { grantType, ...grantRequest }, trace)
        if (contributed === undefined) throw refuse('demand_unsettled')
        assertWithinPolicy(result, { grant, client, confirmation, scopes }, { registry, scopePolicy: rules.policy })
        const access = narrowScopes(result, contributed, rules.audiences)
        const { subject } = result
        const question = questionOf(result, validatedTokens, marks)
        if (subject !== undefined && !(await isActive(users, subject.sub, question))) throw refuse('user_inactive')

        const commitRequest: CommitRequest = {
          client,
          redemptions: result.redeems,
          continues: result.continues ?? result.lineage?.stored,
          lifetime: result.issue?.lifetime,
          retryId: () => runtime.sha256Hex(JSON.stringify(identityOf(client, confirmation, grantType, form, registry))),
          proofs: usable,
          unsettled,
          refuse,
          trace,
        }
        const mintFrom = (issuance: Issuance): Promise<Minted> =>
          result.assertion === undefined
            ? mint({
                result,
                scopeRules: rules,
                access,
                question,
                contributed,
                client,
                confirmation,
                grantType,
                refuse,
                validatedTokens,
                marks,
                issuance,
              })
            : mintAssertion({ result, plugin, client, marks, requested: scopes, grantType, refuse, issuance })
        return { json: await commit(commitRequest, mintFrom) }
      } finally {
        // A right password does not count as a failure because its request was refused.
        if (unsettled.length > 0) await settle(store, unsettled.splice(0), {})
      }
    }
  },
)
