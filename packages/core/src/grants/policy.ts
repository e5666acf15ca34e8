import type { Client } from '../directory/client.ts'
import { OAuthError } from '../errors/oauth-error.ts'
import type { Confirmation, Grant } from '../parts/grant.ts'
import type { Registry } from '../parts/registry.ts'
import { clientProblem, keyProblem } from '../parts/token-binding.ts'
import type { GrantRecord } from '../records/schemas.ts'
import type { Audiences } from '../tokens/audience.ts'
import type { Contributed } from './contributions.ts'
import { type CheckedResult, refusalOf } from './result.ts'
import { mayHaveRefreshToken, type ScopePolicy } from './scope-policy.ts'

/** The request against which the core checks a result. */
interface PolicyRequest {
  readonly grant: Grant
  readonly client: Client
  /** The keys that the request has proved. */
  readonly confirmation: Confirmation | undefined
  /** The requested scopes. */
  readonly scopes: readonly string[]
}

/** Returns why a client may no longer use what it was granted; `undefined` if it may. */
export function lossOf({ grantType, kind }: GrantRecord, client: Client): 'grant_type_lost' | 'scope_lost' | undefined {
  // A client that has lost the grant type of the original authorization has lost the whole family.
  if (!client.grantTypes.includes(grantType)) return 'grant_type_lost'
  // Also if the request narrows the scope: the refresh token exists only because of offline_access.
  return kind === 'refresh' && !mayHaveRefreshToken(client) ? 'scope_lost' : undefined
}

/**
 * Checks that this client may still use the stored grant.
 *
 * @throws TypeError (a defect in the plugin) when the subject is not that of the stored grant, or the grant continues a
 * refresh token that it must redeem.
 */
function assertStoredGrant(
  { subject, stored, continues, demanded }: CheckedResult,
  { grant, client, confirmation }: PolicyRequest,
  registry: Registry,
): void {
  const record = stored?.record
  if (record === undefined) return
  const problem = clientProblem(record.clientId, client) ?? keyProblem(record.cnf, confirmation)
  if (problem !== undefined) throw refusalOf(grant, problem)
  if (subject?.sub !== record.subject.sub) {
    throw new TypeError(`The grant ${grant.grantType} returned a subject that differs from that of the stored grant`)
  }
  const loss = lossOf(record, client)
  if (loss !== undefined) throw refusalOf(grant, loss)
  // A refresh token has settled the demands of the authorization. It makes those that are bound to it.
  const required = record.kind === 'refresh' ? undefined : registry.requiredDemand(record.kind, client)
  if (required !== undefined && demanded[required] === undefined) throw refusalOf(grant, `${required}_required`)
  if (continues !== undefined && client.refreshToken.usage !== 'reuse') {
    throw new TypeError(`The grant ${grant.grantType} cannot continue a refresh token of a client that rotates them`)
  }
}

/**
 * Checks that the result does not exceed the request, the stored grant, or the client. Applies to built-in and custom
 * grants alike.
 *
 * @throws OAuthError `invalid_grant` or `invalid_scope`
 */
export function assertWithinPolicy(
  result: CheckedResult,
  request: PolicyRequest,
  { registry, scopePolicy }: { readonly registry: Registry; readonly scopePolicy: ScopePolicy },
): void {
  assertStoredGrant(result, request, registry)
  const { grant, client, confirmation, scopes } = request
  const continued = result.lineage?.stored?.record
  if (continued !== undefined) {
    // If the refresh token belongs to another client, the kit has already checked that client.
    const isOwn = clientProblem(continued.clientId, client) === undefined
    const problem = keyProblem(continued.cnf, confirmation) ?? (isOwn ? lossOf(continued, client) : undefined)
    if (problem !== undefined) throw refusalOf(grant, problem)
  }
  scopePolicy.assertGranted(result, scopes, grant, client)
}

/** The refusal of an audience that the granted scopes, or the consent of the user, do not allow. */
export const audienceNotAllowed = (): OAuthError =>
  new OAuthError('invalid_target', 'The requested resource is not allowed', { reason: 'audience_not_allowed' })

const audienceMissing = (): OAuthError =>
  new OAuthError('invalid_target', 'The scope belongs to several resources: name one in the parameter resource', {
    reason: 'audience_missing',
  })

/** What an access token is for. */
export interface AccessScopes {
  readonly scopes: readonly string[]
  /** The claim `aud`. */
  readonly audience: string | readonly string[]
}

/**
 * Limits an access token to the audiences that the request asks for, or that the user consented to. Identity scopes and
 * `offline_access` remain.
 *
 * @throws OAuthError `invalid_target` when the granted scopes do not allow a requested audience, or when one of them
 * belongs to several and the request names none: an API must not receive a token that another one accepts, too.
 * @see RFC 8707 section 2.2
 */
export function narrowScopes(
  { scopes, audience: fromGrant, source }: CheckedResult,
  { audience: fromChecks }: Contributed,
  audiences: Audiences,
): AccessScopes {
  const consented = source?.record?.audience
  const requested = fromChecks ?? fromGrant
  const limit = requested ?? consented
  if (limit === undefined) {
    if (audiences.areShared(scopes)) throw audienceMissing()
    return { scopes, audience: audiences.of(scopes) }
  }
  const narrowed = audiences.within(scopes, limit)
  // A token without scopes would have the default audience, which was not requested.
  if (narrowed.length === 0 && scopes.length > 0) throw audienceNotAllowed()
  const access = { scopes: narrowed, audience: audiences.of(narrowed, limit) }
  if (requested === undefined) return access
  // A request can only narrow what the user consented to, and a check can only narrow what the grant returned.
  const isAllowed = (audience: string): boolean =>
    [consented, fromGrant].every((allowed) => allowed === undefined || allowed.includes(audience))
  if (requested.length === 0 || !requested.every(isAllowed)) throw audienceNotAllowed()
  const reached = audiences.listOf(narrowed)
  if (!requested.every((audience) => reached.includes(audience))) throw audienceNotAllowed()
  return access
}
