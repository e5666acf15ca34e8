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

const refused = (reason: string): OAuthError => new OAuthError('invalid_grant', 'The grant is not valid', { reason })

function storedGrantOf(redeems: readonly RedemptionFacts[], continues: RedemptionFacts | undefined) {
  const stored = [...redeems, ...(continues === undefined ? [] : [continues])].filter(
    ({ record }) => record !== undefined,
  )
  if (stored.length > 1) throw new TypeError('A grant can redeem or continue one stored grant only')
  return stored[0]
}

/** @throws TypeError (a defect of the plugin) when the result is malformed or sets what belongs to the core. */
export function parseGrantResult(result: unknown, grant: Grant): CheckedResult {
  const parsed = v.safeParse(grantResultSchema, result)
  if (!parsed.success) {
    const [issue] = parsed.issues
    throw new TypeError(
      `The grant ${grant.grantType} returned a malformed result: ${v.getDotPath(issue) ?? ''} ${issue.message}`,
    )
  }
  const { redeems: redemptions, continues: continued, ...rest } = parsed.output
  for (const member of Object.keys(rest.response ?? {})) {
    if (standardMembers.has(member))
      throw new TypeError(`The grant ${grant.grantType} may not set ${member} of the response`)
  }
  const redeems = (redemptions ?? []).map(factsOf)
  const continues = continued && factsOf(continued)
  const stored = storedGrantOf(redeems, continues)
  // Taken from the record, so that a grant that forgets to pass a demand on does not switch it off.
  const demanded = { ...rest.demands, ...stored?.record?.demands }
  return { ...rest, redeems, continues, stored, demanded } as CheckedResult
}

/**
 * The scope policy, once more, on what the grant decided: nothing beyond the request, the stored grant, or the client. For built-in and
 * custom grants alike.
 */
export function assertWithinPolicy(
  result: CheckedResult,
  request: {
    readonly grant: Grant
    readonly client: Client
    readonly scopes: readonly string[]
    readonly directory: ScopeDirectory
  },
): void {
  const { grant, client, scopes: requested, directory } = request
  const record = result.stored?.record
  const invalidScope = (reason: string): OAuthError =>
    new OAuthError('invalid_scope', 'The scope is not valid', { reason })

  if (record !== undefined && record.clientId !== client.clientId) throw refused('client_mismatch')
  // A client that lost the grant type by which the family began has lost the family.
  if (record !== undefined && !client.grantTypes.includes(record.grantType)) throw refused('grant_type_lost')
  if (
    record !== undefined &&
    client.public &&
    record.grantType === 'authorization_code' &&
    result.stored?.kind === 'code'
  ) {
    if (result.demanded.proof_key === undefined) throw refused('proof_key_required')
  }
  for (const name of result.scopes) {
    const scope = directory.find(name)
    if (!scope?.enabled || !client.scopes.includes(name)) {
      throw record === undefined ? invalidScope('scope_not_allowed') : refused('scope_lost')
    }
    if (record !== undefined ? !record.scopes.includes(name) : !requested.includes(name) && grant.scope !== 'ignored') {
      throw invalidScope('scope_escalation')
    }
    if (result.subject === undefined && (scope.identity || name === 'offline_access')) {
      throw invalidScope('scope_needs_subject')
    }
  }
}
