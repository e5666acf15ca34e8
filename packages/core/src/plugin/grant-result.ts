import * as v from 'valibot'
import type { Client } from '../directory/client.ts'
import type { ScopeDirectory } from '../directory/scopes.ts'
import { subjectSchema } from '../directory/subject.ts'
import { OAuthError } from '../errors/oauth-error.ts'
import type { JsonObject } from '../json.ts'
import { jsonObjectSchema } from '../records/records.ts'
import type { Grant, GrantResult } from './grant.ts'
import { factsOf, type Redemption, type RedemptionFacts } from './redemption.ts'

const redemptionSchema = v.custom<Redemption>((value) => typeof value === 'object' && value !== null)

/** A plugin is not trusted: its result is validated like any other input. */
const grantResultSchema = v.strictObject({
  subject: v.exactOptional(subjectSchema),
  scopes: v.array(v.string()),
  claims: v.exactOptional(jsonObjectSchema),
  nonce: v.exactOptional(v.string()),
  redeems: v.exactOptional(v.array(redemptionSchema)),
  continues: v.exactOptional(redemptionSchema),
  demands: v.exactOptional(jsonObjectSchema),
  issue: v.exactOptional(
    v.strictObject({
      accessToken: v.exactOptional(v.picklist(['jwt', 'reference'])),
      refreshToken: v.exactOptional(v.literal(false)),
      identityToken: v.exactOptional(v.boolean()),
      lifetime: v.exactOptional(v.pipe(v.number(), v.safeInteger(), v.minValue(1))),
    }),
  ),
  response: v.exactOptional(jsonObjectSchema),
})

/** Members of the token response that only the core sets. RFC 6749 sections 5.1 and 5.2. */
const standardMembers: ReadonlySet<string> = new Set([
  'access_token',
  'token_type',
  'expires_in',
  'scope',
  'refresh_token',
  'id_token',
  'error',
  'error_description',
  'error_uri',
])

/** A validated result, with the core's facts about the credentials in it. */
export interface CheckedResult extends Omit<GrantResult, 'redeems' | 'continues'> {
  readonly redeems: readonly RedemptionFacts[]
  readonly continues: RedemptionFacts | undefined
  /** The stored grant behind this request, whether it is redeemed or continued. */
  readonly stored: RedemptionFacts | undefined
  /** The demands of the stored grant and those that the grant adds. */
  readonly demanded: JsonObject
}

export const defaultRefusal = 'The grant is not valid'

/** The core's refusal of a grant's result, with the grant's own public description. */
export const refusalOf = (grant: Grant, reason: string): OAuthError =>
  new OAuthError('invalid_grant', grant.refusal ?? defaultRefusal, { reason })

function storedGrantOf(redeems: readonly RedemptionFacts[], continues: RedemptionFacts | undefined) {
  const stored = [...redeems, ...(continues === undefined ? [] : [continues])].filter(
    ({ record }) => record !== undefined,
  )
  if (stored.length > 1) throw new TypeError('A grant can redeem or continue only one stored grant')
  return stored[0]
}

/** A defect in the plugin. The message contains only the path: the value could be a token or a password. */
function malformedResult(result: unknown, issue: v.BaseIssue<unknown>, { grantType }: Grant): OAuthError {
  const isMissing = result === undefined || result === null
  const mistake = isMissing ? 'no result' : `a malformed result: ${v.getDotPath(issue) ?? 'not an object'}`
  return new OAuthError('server_error', 'The request failed', {
    reason: isMissing ? 'grant_result_missing' : 'grant_result_malformed',
    cause: new TypeError(`The grant ${grantType} returned ${mistake}`),
  })
}

/**
 * Validates the result of a grant.
 *
 * @param found stored grants that the kit has returned for this request
 * @throws OAuthError `server_error` (a defect in the plugin) when the result is missing or malformed.
 * @throws TypeError (a defect in the plugin) when the result sets a member that only the core sets, or omits a stored
 * grant that the grant has looked up.
 */
export function parseGrantResult(result: unknown, grant: Grant, found: readonly Redemption[]): CheckedResult {
  const parsed = v.safeParse(grantResultSchema, result)
  if (!parsed.success) throw malformedResult(result, parsed.issues[0], grant)
  const { output } = parsed
  for (const member of Object.keys(output.response ?? {})) {
    if (standardMembers.has(member))
      throw new TypeError(`The grant ${grant.grantType} cannot set ${member} of the response`)
  }
  const redeems = (output.redeems ?? []).map(factsOf)
  const continues = output.continues && factsOf(output.continues)
  if (continues !== undefined && continues.kind !== 'refresh') {
    throw new TypeError(`The grant ${grant.grantType} can continue only a refresh token`)
  }
  const stored = storedGrantOf(redeems, continues)
  // Without it, the core would not compare the client, settle the demands, or spend the credential.
  if (found.length > 0 && stored === undefined) {
    throw new TypeError(`The grant ${grant.grantType} looked up a stored grant but neither redeems nor continues it`)
  }
  // From the record, so that a grant cannot drop a demand by omitting it.
  const demanded = { ...output.demands, ...stored?.record?.demands }
  return Object.assign(output, { redeems, continues, stored, demanded }) as unknown as CheckedResult
}

/** The request against which the core checks a result. */
export interface PolicyRequest {
  readonly grant: Grant
  readonly client: Client
  /** The requested scopes. */
  readonly scopes: readonly string[]
  readonly directory: ScopeDirectory
}

/** Checks that this client may still use the stored grant. */
function assertStoredGrant(
  { subject, stored, continues, demanded }: CheckedResult,
  { grant, client }: PolicyRequest,
): void {
  const record = stored?.record
  if (record === undefined) return
  if (record.clientId !== client.clientId) throw refusalOf(grant, 'client_mismatch')
  if (subject?.sub !== record.subject.sub) {
    throw new TypeError(`The grant ${grant.grantType} returned a subject that differs from that of the stored grant`)
  }
  // A client that has lost the grant type of the original authorization has lost the whole family.
  if (!client.grantTypes.includes(record.grantType)) throw refusalOf(grant, 'grant_type_lost')
  // Also if the request narrows the scope: the refresh token exists only because of offline_access.
  if (record.kind === 'refresh' && !client.scopes.includes('offline_access')) throw refusalOf(grant, 'scope_lost')
  if (record.kind === 'code' && client.public && demanded.proof_key === undefined) {
    throw refusalOf(grant, 'proof_key_required')
  }
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
export function assertWithinPolicy(result: CheckedResult, request: PolicyRequest): void {
  assertStoredGrant(result, request)
  const { grant, client, scopes: requested, directory } = request
  const stored = result.stored?.record?.scopes
  // Without a requested scope, the stored scopes are the limit.
  const unbound = grant.scope === 'ignored' || (stored !== undefined && requested.length === 0)
  const asked = unbound ? undefined : requested
  const refuse = (reason: string): OAuthError => new OAuthError('invalid_scope', 'The scope is not valid', { reason })
  for (const name of result.scopes) {
    const scope = directory.find(name)
    if (!scope?.enabled || !client.scopes.includes(name)) {
      if (stored !== undefined) throw refusalOf(grant, 'scope_lost')
      throw refuse(scope?.enabled ? 'scope_not_allowed' : 'scope_unknown')
    }
    if (stored?.includes(name) === false || asked?.includes(name) === false) throw refuse('scope_escalation')
    if (result.subject === undefined && (scope.identity || name === 'offline_access'))
      throw refuse('scope_needs_subject')
  }
}
