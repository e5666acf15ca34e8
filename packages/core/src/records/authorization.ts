import * as v from 'valibot'
import type { RequestedClaims } from '../directory/user-claims.ts'
import { type CompleteSubject, type Subject, uncheckedSubjectSchema } from '../directory/user-service.ts'
import {
  isJsonObject,
  isNumber,
  isObject,
  isString,
  isStringOrAbsent,
  isStrings,
  jsonObjectSchema,
  type Unchecked,
} from '../json.ts'
import type { JsonObject } from '../types.ts'

/**
 * What a user, or a policy of the host, has authorized. It is one value from the request of the login page to the
 * tokens: what is proposed, what is stored, and what a grant finds and returns extend it.
 */
export interface Authorization {
  readonly subject: Subject
  readonly scopes: readonly string[]
  /** The audiences of the access tokens: a subset of those of the scopes. Absent: all of them. */
  readonly audience?: readonly string[] | undefined
  /** Additional claims of the access tokens. Protocol claims (`sub`, `scope`, `exp`, ...) are rejected. */
  readonly claims?: JsonObject | undefined
  /** Who acts for the subject: the claim `act` (RFC 8693 section 4.1). */
  readonly act?: JsonObject | undefined
  /**
   * Additional claims of the identity tokens, also after a refresh, such as `sid` (OpenID Connect Back-Channel Logout 1.0
   * section 2.1). Other protocol claims are rejected.
   */
  readonly identityClaims?: JsonObject | undefined
  /** The claims of the user that the request asked for one by one, for identity tokens and userinfo. */
  readonly requestedClaims?: RequestedClaims | undefined
  /** At most 300 characters; included in the first identity token. */
  readonly nonce?: string | undefined
  /** The redirect URI that the credential is sent to; `undefined` if there is none, or its request named none. */
  readonly redirectUri?: string | undefined
  /** What the request that redeems the grant must prove. A grant check settles each demand. */
  readonly demands?: JsonObject | undefined
  /** The keys that a request must prove to use it, by their members of `cnf`. */
  readonly cnf?: Readonly<Record<string, string>> | undefined
}

// OpenID Connect defines 20 claims of a user. Each name of `userinfo` is in the access tokens.
const namesSchema = v.pipe(v.array(v.pipe(v.string(), v.minLength(1), v.maxLength(100))), v.maxLength(50))

/** The schemas of the members that the host and plugins set. The names of claims come from a browser, so they are limited. */
export const authorizationEntries = {
  subject: uncheckedSubjectSchema,
  scopes: v.array(v.string()),
  audience: v.optional(v.array(v.string())),
  claims: v.optional(jsonObjectSchema),
  identityClaims: v.optional(jsonObjectSchema),
  requestedClaims: v.optional(
    v.strictObject({ userinfo: v.optional(namesSchema), identityToken: v.optional(namesSchema) }),
  ),
  nonce: v.optional(v.string()),
  redirectUri: v.optional(v.string()),
  demands: v.optional(jsonObjectSchema),
}

/** Returns the names that a record has: each once, and `undefined` if there are none. */
function recordedClaims(requested: RequestedClaims | undefined): RequestedClaims | undefined {
  if (requested === undefined) return undefined
  const { userinfo = [], identityToken = [] } = requested
  const [user, identity] = [new Set(userinfo), new Set(identityToken)]
  if (user.size === 0 && identity.size === 0) return undefined
  return { ...(user.size > 0 && { userinfo: [...user] }), ...(identity.size > 0 && { identityToken: [...identity] }) }
}

/** Returns a member that has content; `undefined` for an empty object. */
const unlessEmpty = (value: JsonObject = {}): JsonObject | undefined =>
  Object.keys(value).length === 0 ? undefined : value

/** Names every member: the compiler finds each place that forgets a new one. */
type EveryMember = { readonly [Name in keyof Required<Authorization>]: Authorization[Name] } & {
  readonly subject: CompleteSubject
}

/** Returns the members of a record. Those that are `undefined` are not stored. */
export const recordedAuthorization = (
  authorization: EveryMember,
): Authorization & { readonly subject: CompleteSubject } => ({
  // Not a spread: with a member after it, it takes half a microsecond (bench/PROFILE.md).
  subject: Object.assign({}, authorization.subject, { amr: [...authorization.subject.amr] }),
  scopes: [...authorization.scopes],
  audience: authorization.audience && [...authorization.audience],
  claims: authorization.claims,
  act: authorization.act,
  identityClaims: authorization.identityClaims,
  requestedClaims: recordedClaims(authorization.requestedClaims),
  nonce: authorization.nonce,
  redirectUri: authorization.redirectUri,
  demands: unlessEmpty(authorization.demands),
  cnf: authorization.cnf,
})

/** The members that the result of a grant has from the stored grant, unless the grant sets them. */
export const inheritedMembers = ['subject', 'scopes', 'claims', 'identityClaims', 'requestedClaims', 'nonce'] as const

/** What a grant finds of a stored authorization. The core keeps the demands and the keys, and settles them itself. */
export type FoundAuthorization = Omit<Authorization, 'demands' | 'cnf'>

/** Freezes what a grant could otherwise change in the record. */
function frozen<T>(value: T): T {
  if (isObject(value) && !Object.isFrozen(value)) Object.values(Object.freeze(value)).forEach(frozen)
  return value
}

/** Returns what a grant finds. Drops what a later release may have stored in the subject: a grant can return it. */
export function foundAuthorization(record: Authorization): FoundAuthorization {
  // Each member by its name: a rest of a parsed record takes over a microsecond.
  const { subject, scopes, audience, claims, act, identityClaims, requestedClaims, nonce, redirectUri } = record
  const { sub, amr, authTime, idp, acr } = subject
  return {
    subject: { sub, amr, authTime, idp, ...(acr !== undefined && { acr }) },
    scopes: Object.freeze(scopes),
    audience: audience && Object.freeze(audience),
    claims: frozen(claims),
    act: frozen(act),
    identityClaims: frozen(identityClaims),
    requestedClaims: frozen(requestedClaims),
    nonce,
    redirectUri,
  }
}

function isSubject(value: unknown): boolean {
  if (!isObject(value)) return false
  const { sub, amr, authTime, idp, acr } = value as Unchecked<CompleteSubject>
  return isString(sub) && isStrings(amr) && isNumber(authTime) && isString(idp) && isStringOrAbsent(acr)
}

function isRequestedClaims(value: unknown): boolean {
  if (!isObject(value)) return false
  const { userinfo = [], identityToken = [] } = value as Unchecked<RequestedClaims>
  return isStrings(userinfo) && isStrings(identityToken)
}

const isConfirmation = (value: unknown): boolean =>
  isJsonObject(value) && Object.values(value as object).every(isString)

/** Whether these members of a record have the types of an authorization. */
export const isAuthorization = (value: Unchecked<Authorization>): boolean =>
  isSubject(value.subject) &&
  isStrings(value.scopes) &&
  (value.audience === undefined || isStrings(value.audience)) &&
  (value.claims === undefined || isJsonObject(value.claims)) &&
  (value.act === undefined || isJsonObject(value.act)) &&
  (value.identityClaims === undefined || isJsonObject(value.identityClaims)) &&
  (value.requestedClaims === undefined || isRequestedClaims(value.requestedClaims)) &&
  isStringOrAbsent(value.nonce) &&
  isStringOrAbsent(value.redirectUri) &&
  (value.demands === undefined || isJsonObject(value.demands)) &&
  (value.cnf === undefined || isConfirmation(value.cnf))
