import { type Json, type JsonObject, OAuthError } from '@grantry/core'

/** A claim that the request asks for individually. @see OpenID Connect Core section 5.5.1 */
export interface ClaimRequest {
  readonly name: string
  readonly essential: boolean
  /** The acceptable values, if the request names any. */
  readonly values: readonly Json[] | undefined
}

/** The parameter `claims`. @see OpenID Connect Core section 5.5 */
export interface ClaimsParameter {
  readonly userinfo: readonly ClaimRequest[]
  readonly identityToken: readonly ClaimRequest[]
}

const none: ClaimsParameter = Object.freeze({ userinfo: [], identityToken: [] })

/** Limits that no client needs to exceed: the standard defines 20 claims. */
const maxLength = 5000
const maxClaims = 50
const maxNameLength = 100

const malformed = (): OAuthError =>
  new OAuthError('invalid_request', 'The parameter claims is malformed', {
    reason: 'plugin:authorization-endpoint:claims_malformed',
  })

/** Pages show the names, and a link can contain any: a name with spaces could be a sentence to the user. */
const nameForm = /^[\x21-\x7E]+$/u

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Input from callers may not be JSON.
    return undefined
  }
}

function claimOf([name, request]: readonly [string, Json]): ClaimRequest {
  if (name.length > maxNameLength || (request !== null && !isObject(request))) throw malformed()
  const { essential, value, values } = request ?? {}
  if (values !== undefined && !Array.isArray(values)) throw malformed()
  return { name, essential: essential === true, values: value === undefined ? values : [value] }
}

/** Unknown members and names are ignored, as sections 5.5 and 5.5.1 require. */
function claimsIn(section: Json | undefined): readonly ClaimRequest[] {
  if (section === undefined || section === null) return []
  if (!isObject(section)) throw malformed()
  const claims = Object.entries(section)
  if (claims.length > maxClaims) throw malformed()
  return claims.map(claimOf).filter(({ name }) => nameForm.test(name))
}

/** @throws OAuthError `invalid_request` */
export function parseClaims(text: string | undefined): ClaimsParameter {
  if (text === undefined) return none
  const claims = text.length > maxLength ? undefined : parseJson(text)
  if (!isObject(claims)) throw malformed()
  return { userinfo: claimsIn(claims.userinfo), identityToken: claimsIn(claims.id_token) }
}
