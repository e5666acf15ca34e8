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

/** What a plugin hands over is foreign data: it is parsed like any other. */
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

/** Members of the token response that are the core's. RFC 6749 sections 5.1 and 5.2. */
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

/** A result that was parsed, with what the core knows of the credentials in it. */
export interface CheckedResult extends Omit<GrantResult, 'redeems' | 'continues'> {
  readonly redeems: readonly RedemptionFacts[]
  readonly continues: RedemptionFacts | undefined
  /** The stored grant that this request goes on with, redeemed or not. */
  readonly stored: RedemptionFacts | undefined
  /** What must be proved: what the stored grant demands, and what the grant adds. */
  readonly demanded: JsonObject
}

export const defaultRefusal = 'The grant is not valid'

/** The core's refusal of what a grant has granted, in the grant's own public words. */
export const refusalOf = (grant: Grant, reason: string): OAuthError =>
  new OAuthError('invalid_grant', grant.refusal ?? defaultRefusal, { reason })

function storedGrantOf(redeems: readonly RedemptionFacts[], continues: RedemptionFacts | undefined) {
  const stored = [...redeems, ...(continues === undefined ? [] : [continues])].filter(
    ({ record }) => record !== undefined,
  )
  if (stored.length > 1) throw new TypeError('A grant can redeem or continue one stored grant only')
  return stored[0]
}

/** A defect of the plugin. Only the path of the mistake is named: the value could be a token or a password. */
function malformedResult(result: unknown, issue: v.BaseIssue<unknown>, { grantType }: Grant): OAuthError {
  const isMissing = result === undefined || result === null
  const mistake = isMissing ? 'no result' : `a malformed result: ${v.getDotPath(issue) ?? 'not an object'}`
  return new OAuthError('server_error', 'The request failed', {
    reason: isMissing ? 'grant_result_missing' : 'grant_result_malformed',
    cause: new TypeError(`The grant ${grantType} returned ${mistake}`),
  })
}

/**
 * @param found stored grants that the kit has handed out for this request
 * @throws OAuthError `server_error` (a defect of the plugin) when the result is missing or malformed.
 * @throws TypeError (a defect of the plugin) when it sets what belongs to the core, or leaves out a stored grant that it rests on.
 */
export function parseGrantResult(result: unknown, grant: Grant, found: readonly Redemption[]): CheckedResult {
  const parsed = v.safeParse(grantResultSchema, result)
  if (!parsed.success) throw malformedResult(result, parsed.issues[0], grant)
  const { output } = parsed
  for (const member of Object.keys(output.response ?? {})) {
    if (standardMembers.has(member))
      throw new TypeError(`The grant ${grant.grantType} may not set ${member} of the response`)
  }
  const redeems = (output.redeems ?? []).map(factsOf)
  const continues = output.continues && factsOf(output.continues)
  if (continues !== undefined && continues.kind !== 'refresh') {
    throw new TypeError(`The grant ${grant.grantType} may continue a refresh token only`)
  }
  const stored = storedGrantOf(redeems, continues)
  // Without it nothing would compare the owner, settle the demands, or spend.
  if (found.length > 0 && stored === undefined) {
    throw new TypeError(`The grant ${grant.grantType} looked up a stored grant and neither redeems nor continues it`)
  }
  // Taken from the record, so that a grant that forgets to pass a demand on does not switch it off.
  const demanded = { ...output.demands, ...stored?.record?.demands }
  return Object.assign(output, { redeems, continues, stored, demanded }) as unknown as CheckedResult
}

/** What the core judges a result against. */
export interface PolicyRequest {
  readonly grant: Grant
  readonly client: Client
  /** The scopes that were asked for. */
  readonly scopes: readonly string[]
  readonly directory: ScopeDirectory
}

/** Whether this client may still go on with what was stored. */
function assertStoredGrant(
  { subject, stored, continues, demanded }: CheckedResult,
  { grant, client }: PolicyRequest,
): void {
  const record = stored?.record
  if (record === undefined) return
  if (record.clientId !== client.clientId) throw refusalOf(grant, 'client_mismatch')
  if (subject?.sub !== record.subject.sub) {
    throw new TypeError(`The grant ${grant.grantType} names another subject than the stored grant that it goes on with`)
  }
  // A client that lost the grant type by which the family began has lost the family.
  if (!client.grantTypes.includes(record.grantType)) throw refusalOf(grant, 'grant_type_lost')
  // Narrowing the request does not get round it: there is a refresh token because of this scope.
  if (record.kind === 'refresh' && !client.scopes.includes('offline_access')) throw refusalOf(grant, 'scope_lost')
  if (record.kind === 'code' && client.public && demanded.proof_key === undefined) {
    throw refusalOf(grant, 'proof_key_required')
  }
  if (continues !== undefined && client.refreshToken.usage !== 'reuse') {
    throw new TypeError(`The grant ${grant.grantType} may not continue a refresh token of a client that rotates`)
  }
}

/**
 * The policy, once more, on what the grant decided: nothing beyond the request, the stored grant, or the client. For built-in and custom grants
 * alike.
 *
 * @throws OAuthError `invalid_grant` or `invalid_scope`
 */
export function assertWithinPolicy(result: CheckedResult, request: PolicyRequest): void {
  assertStoredGrant(result, request)
  const { grant, client, scopes: requested, directory } = request
  const stored = result.stored?.record?.scopes
  // A grant that goes on with a stored one may be asked for nothing in particular: then the stored scopes are the bound.
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
