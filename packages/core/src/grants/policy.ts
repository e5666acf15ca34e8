import type { Client } from '../directory/client.ts'
import type { Confirmation } from '../plugin/confirmation.ts'
import type { Grant } from '../plugin/grant.ts'
import type { GrantRecord } from '../records/schemas.ts'
import type { Registry } from '../registry/registry.ts'
import { isConfirmed } from '../tokens/confirmation.ts'
import { type CheckedResult, refusalOf } from './result.ts'
import { allowsRefreshToken, type ScopePolicy } from './scope-policy.ts'

/** The request against which the core checks a result. */
export interface PolicyRequest {
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
  return kind === 'refresh' && !allowsRefreshToken(client.scopes) ? 'scope_lost' : undefined
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
  if (record.clientId !== client.clientId) throw refusalOf(grant, 'client_mismatch')
  if (!isConfirmed(record.cnf, confirmation)) throw refusalOf(grant, 'wrong_key')
  if (subject?.sub !== record.subject.sub) {
    throw new TypeError(`The grant ${grant.grantType} returned a subject that differs from that of the stored grant`)
  }
  const loss = lossOf(record, client)
  if (loss !== undefined) throw refusalOf(grant, loss)
  // A refresh token has settled the demands of the authorization. It makes those that are bound to it.
  const required = record.kind === 'refresh' ? [] : registry.requiredDemands(record.kind, client)
  const missing = required.find((demand) => demanded[demand] === undefined)
  if (missing !== undefined) throw refusalOf(grant, `${missing}_required`)
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
  if (!isConfirmed(continued?.cnf, confirmation)) throw refusalOf(grant, 'wrong_key')
  // If the refresh token belongs to another client, the kit has already checked that client.
  const loss = continued?.clientId === client.clientId ? lossOf(continued, client) : undefined
  if (loss !== undefined) throw refusalOf(grant, loss)
  scopePolicy.assertGranted(result, scopes, grant, client)
}
