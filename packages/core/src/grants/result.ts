import * as v from 'valibot'
import { OAuthError } from '../errors/oauth-error.ts'
import { inexactNumber, inexactNumberIn, jsonObjectSchema } from '../json.ts'
import { type Actor, type Grant, type GrantResult, type IssuedAssertion, maxActors } from '../parts/grant.ts'
import type { Redemption } from '../parts/grant-kit.ts'
import { authorizationEntries, inheritedMembers } from '../records/authorization.ts'
import type { GrantRecord } from '../records/schemas.ts'
import type { JsonObject } from '../types.ts'
import { type CredentialDetails, detailsOf, type Lineage, lineageOf } from './redemption.ts'

const redemptionSchema = v.custom<Redemption>((value) => typeof value === 'object' && value !== null)

const actorSchema: v.GenericSchema<Actor> = v.lazy(() =>
  v.strictObject({
    sub: v.pipe(v.string(), v.minLength(1), v.maxLength(255)),
    clientId: v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(255))),
    iss: v.optional(v.string()),
    actor: v.optional(actorSchema),
  }),
)

const { redirectUri, subject, scopes, ...entries } = authorizationEntries

/** A plugin is not trusted: its result is validated like any other input. */
const grantResultSchema = v.strictObject({
  ...entries,
  subject: v.optional(subject),
  scopes: v.optional(scopes),
  actor: v.optional(actorSchema),
  continuesFamilyOf: v.optional(v.custom<object>((value) => typeof value === 'object' && value !== null)),
  redeems: v.optional(v.array(redemptionSchema)),
  continues: v.optional(redemptionSchema),
  issue: v.optional(
    v.strictObject({
      accessToken: v.optional(v.picklist(['jwt', 'reference'])),
      refreshToken: v.optional(v.literal(false)),
      identityToken: v.optional(v.boolean()),
      lifetime: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(Number.MAX_SAFE_INTEGER))),
    }),
  ),
  // The capability checks it.
  assertion: v.optional(v.custom<IssuedAssertion>((value) => typeof value === 'object' && value !== null)),
  response: v.optional(jsonObjectSchema),
})

/**
 * Members of the token response that only the core sets (RFC 6749 sections 5.1 and 5.2), and the one that could replace
 * the prototype of a copy.
 */
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
  '__proto__',
])

/** A validated result, with the details of the credentials in it. */
export interface CheckedResult extends Omit<GrantResult, 'redeems' | 'continues' | 'continuesFamilyOf'> {
  readonly scopes: readonly string[]
  readonly redeems: readonly CredentialDetails[]
  readonly continues: CredentialDetails | undefined
  /** The stored grant behind this request, whether it is redeemed or continued. */
  readonly stored: CredentialDetails | undefined
  /** The family that the tokens belong to, if the grant continues that of another token. */
  readonly lineage: Lineage | undefined
  /** The stored grant that the tokens come from: `stored`, or that of `lineage`. */
  readonly source: CredentialDetails | undefined
  /** The claim `act`. */
  readonly act: JsonObject | undefined
  /** The demands of the stored grant and those that the grant adds. */
  readonly demanded: JsonObject
}

/** @throws TypeError when the chain is too long. */
function actOf({ sub, clientId, iss, actor }: Actor, depth = 1): JsonObject {
  if (depth > maxActors) throw new TypeError(`A chain of more than ${maxActors} actors is not supported`)
  return {
    ...(iss !== undefined && { iss }),
    sub,
    ...(clientId !== undefined && { client_id: clientId }),
    ...(actor && { act: actOf(actor, depth + 1) }),
  }
}

/** The core's refusal of a grant's result, with the grant's own public description. */
export const refusalOf = (grant: Grant, reason: string): OAuthError =>
  new OAuthError(grant.refusalCode ?? 'invalid_grant', grant.refusal ?? 'The grant is not valid', { reason })

function storedGrantOf(redeems: readonly CredentialDetails[], continues: CredentialDetails | undefined) {
  const stored = [...redeems, ...(continues === undefined ? [] : [continues])].filter(
    ({ record }) => record !== undefined,
  )
  if (stored.length > 1) throw new TypeError('A grant can redeem or continue only one stored grant')
  return stored[0]
}

/** Completes a result with what the stored grant has authorized, so that a grant loses nothing by omitting it. */
function inherit(result: { [Name in (typeof inheritedMembers)[number]]?: unknown }, record: GrantRecord | undefined) {
  if (record === undefined) return
  for (const member of inheritedMembers) result[member] ??= record[member]
}

/** A defect in the plugin. The message contains only the path: the value could be a token or a password. */
function malformedResult(result: unknown, path: string | null, { grantType }: Grant): OAuthError {
  const isMissing = result === undefined || result === null
  const inexact = inexactNumberIn(result)
  const problem = isMissing
    ? 'no result'
    : `a malformed result: ${inexact === undefined ? (path ?? 'not an object') : `${inexact} ${inexactNumber}`}`
  return new OAuthError('server_error', 'The request failed', {
    reason: isMissing ? 'grant_result_missing' : 'grant_result_malformed',
    cause: new TypeError(
      `The grant ${grantType} returned ${problem}; a result is { subject: { sub, amr }, scopes, … }`,
    ),
  })
}

/**
 * Validates the result of a grant.
 *
 * @param lookedUp stored grants that the kit has returned for this request
 * @throws OAuthError `server_error` (a defect in the plugin) when the result is missing or malformed.
 * @throws TypeError (a defect in the plugin) when the result sets a member that only the core sets, omits a stored grant
 * that the grant has looked up, or has a subject although the grant is `withoutUser`.
 */
export function parseGrantResult(result: unknown, grant: Grant, lookedUp: readonly Redemption[]): CheckedResult {
  const parsed = v.safeParse(grantResultSchema, result)
  if (!parsed.success) throw malformedResult(result, v.getDotPath(parsed.issues[0]), grant)
  const { output } = parsed
  for (const member of Object.keys(output.response ?? {})) {
    if (standardMembers.has(member))
      throw new TypeError(`The grant ${grant.grantType} cannot set ${member} of the response`)
  }
  if ((output.assertion !== undefined) !== (grant.scope === 'foreign')) {
    throw new TypeError(`The grant ${grant.grantType} must return an assertion if, and only if, its scope is foreign`)
  }
  if (output.assertion !== undefined) output.scopes ??= []
  if (grant.withoutUser === true && output.subject !== undefined) {
    throw new TypeError(`The grant ${grant.grantType} is withoutUser and cannot return a subject`)
  }
  const redeems = (output.redeems ?? []).map(detailsOf)
  const continues = output.continues && detailsOf(output.continues)
  if (continues !== undefined && continues.kind !== 'refresh') {
    throw new TypeError(`The grant ${grant.grantType} can continue only a refresh token`)
  }
  const stored = storedGrantOf(redeems, continues)
  const lineage = output.continuesFamilyOf && lineageOf(output.continuesFamilyOf)
  if (lineage !== undefined && (stored !== undefined || output.issue?.identityToken === true)) {
    throw new TypeError(`The grant ${grant.grantType} cannot continue a family and issue more than an access token`)
  }
  // The new tokens may not reveal more than the token that they come from.
  if (lineage !== undefined && output.requestedClaims !== undefined) {
    throw new TypeError(`The grant ${grant.grantType} cannot continue a family and set requestedClaims`)
  }
  const source = stored ?? lineage?.stored
  // Without it, the core would not compare the client, settle the demands, or spend the credential.
  const isLookedUpOnly = ({ kind, hash }: CredentialDetails): boolean => kind !== source?.kind || hash !== source.hash
  if (lookedUp.map(detailsOf).some(isLookedUpOnly)) {
    throw new TypeError(
      `The grant ${grant.grantType} looked up a stored grant but neither redeems nor continues it; return its redemption in redeems`,
    )
  }
  inherit(output, stored?.record)
  if (output.scopes === undefined) throw malformedResult(result, 'scopes', grant)
  // From the record, so that a grant cannot drop a demand by omitting it.
  const { demands, act: earlierAct } = source?.record ?? {}
  const demanded = { ...output.demands, ...demands }
  const act = output.actor ? actOf(output.actor) : earlierAct
  return Object.assign(output, {
    redeems,
    continues,
    stored,
    lineage,
    source,
    act,
    demanded,
  }) as unknown as CheckedResult
}
