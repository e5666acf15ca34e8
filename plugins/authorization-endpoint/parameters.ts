import {
  type Client,
  decodeJwt,
  type EndpointKit,
  isJsonObject,
  isRegisteredRedirectUri,
  type Json,
  type OAuthError,
  parseExactJson,
  quotableName,
  type Refuse,
  redirectUriDetail,
  type UnknownCaller,
} from '@grantry/core'
import {
  type AuthorizationParameters,
  type ResponseMode,
  receivesForms,
  responseModeOf,
  type Target,
} from './response.ts'

export const prompts = ['none', 'login', 'consent', 'select_account'] as const
/** @see Initiating User Registration via OpenID Connect 1.0 section 4 */
export type Prompt = (typeof prompts)[number] | 'create'

export const wordsOf = (text: string | undefined): readonly string[] =>
  (text ?? '').split(' ').filter((word) => word !== '')

/** What the interaction can do. */
export interface RequestOptions {
  /** Whether `prompt=create` is accepted. */
  readonly createsAccounts: boolean
}

/** @throws OAuthError for the client. */
export function promptsOf(
  { prompt }: AuthorizationParameters,
  { createsAccounts }: RequestOptions,
  refuse: Refuse,
): ReadonlySet<Prompt> {
  const words = wordsOf(prompt)
  const isPrompt = (word: string): word is Prompt =>
    (prompts as readonly string[]).includes(word) || (createsAccounts && word === 'create')
  if (!words.every(isPrompt)) {
    throw refuse('invalid_request', 'The parameter prompt is malformed', 'prompt_unknown')
  }
  const requested = new Set(words)
  if (requested.has('none') && requested.size > 1) {
    throw refuse('invalid_request', 'The prompt none excludes all others', 'prompt_contradiction')
  }
  return requested
}

/** Credentials, which are parameters of other endpoints. */
const credentials: ReadonlySet<string> = new Set([
  'client_assertion',
  'client_secret',
  'code_verifier',
  'password',
  'username',
])

/** Drops credentials that a client or a page has added by mistake: requests are stored, and appear in URLs. */
export const withoutCredentials = (params: AuthorizationParameters): AuthorizationParameters =>
  Object.fromEntries(Object.entries(params).filter(([name]) => !credentials.has(name)))

/** Bytes of the state in a URL. With the longest redirect URI, browsers and proxies still accept the response. */
const maxStateLength = 4096

/** RFC 6749 appendix A.5. A form would change line breaks and NUL, so the client would not get its own value back. */
const controlCharacters = /\p{Cc}/u

/** @throws OAuthError for the user: a response to the client without its state would be none of its own. */
export function assertState(state: string | undefined, refuse: Refuse): void {
  if (state === undefined) return
  if (controlCharacters.test(state)) {
    throw refuse('invalid_request', 'The parameter state is malformed', 'state_malformed')
  }
  // As the response encodes it: longer than by encodeURIComponent().
  if (new URLSearchParams([['', state]]).toString().length - 1 > maxStateLength) {
    throw refuse('invalid_request', 'The parameter state is too long', 'too_long')
  }
}

/** OAuth 2.0 Multiple Response Type Encoding Practices, section 5: a client of these types reads the fragment only. */
const defaultModeOf = (responseType = ''): ResponseMode =>
  responseType.split(' ').some((word) => word === 'token' || word === 'id_token') ? 'fragment' : 'query'

/** Errors need a mode too, also if the requested one is unknown or impossible. */
function modeOf({ response_mode, response_type }: AuthorizationParameters, redirectUri: string): ResponseMode {
  const requested = responseModeOf(response_mode)
  const isPossible = requested !== undefined && (requested !== 'form_post' || receivesForms(redirectUri))
  return isPossible ? requested : defaultModeOf(response_type)
}

const member = (name: string, value: Json | undefined) => typeof value === 'string' && { [name]: value }

/**
 * Adds `state` and `response_mode` from a request object. Request objects are refused without being verified, but
 * their client can only connect the error with the request if the error has the state, and arrives where the client
 * waits for it.
 */
function withObject(params: AuthorizationParameters): AuthorizationParameters {
  // decodeJwt() expects a signature, which an object with `alg: none` has not.
  const claims = decodeJwt((params.request ?? '').replace(/\.$/u, '.unsigned'))?.claims
  if (claims === undefined) return params
  return { ...member('state', claims.state), ...member('response_mode', claims.response_mode), ...params }
}

/**
 * Returns the redirect URI of a request without one: the only one of the client. OpenID Connect Core section 3.1.2.1 and
 * FAPI 2.0, whose clients push their requests, require the parameter.
 *
 * @see RFC 6749 section 3.1.2.3
 */
function defaultRedirectUri({ scope = '' }: AuthorizationParameters, client: Client, refuse: Refuse): string {
  const [only, ...others] = client.redirectUris
  const mustName = client.requirePushedAuthorizationRequests === true || scope.split(' ').includes('openid')
  if (only !== undefined && others.length === 0 && !mustName) return only
  const facts = { clientId: client.clientId }
  throw refuse('invalid_request', 'The parameter redirect_uri is required', 'redirect_uri_missing', facts)
}

/**
 * Finds where the response goes. Until this has succeeded, nothing is sent to a redirect URI.
 *
 * @param from the client, if it has authenticated or was found; otherwise the request that names it
 * @throws OAuthError for the user, not for the client.
 * @see RFC 6749 section 4.1.2.1; RFC 9700 section 4.11
 */
export async function findTarget(
  sent: AuthorizationParameters,
  kit: EndpointKit,
  from: { readonly client?: Client | undefined; readonly http?: UnknownCaller | undefined } = {},
): Promise<Target> {
  const { refuse } = kit
  const params = withObject(sent)
  const { client_id: clientId, state } = params
  if (clientId === undefined) {
    throw refuse('invalid_request', 'The parameter client_id is required', 'client_id_missing')
  }
  const client = from.client ?? (await kit.findClient(clientId, from.http))
  if (client === undefined) {
    const facts = { detail: `sent: ${quotableName(clientId)}; no client has this clientId, or it is disabled` }
    throw refuse('unauthorized_client', 'The client is not known', 'client_unknown', facts)
  }
  const redirectUri = params.redirect_uri ?? defaultRedirectUri(params, client, refuse)
  if (!isRegisteredRedirectUri(redirectUri, client.redirectUris)) {
    const facts = { clientId, detail: redirectUriDetail(redirectUri, client.redirectUris) }
    throw refuse('invalid_request', 'The redirect_uri is not registered', 'redirect_uri_mismatch', facts)
  }
  assertState(state, refuse)
  return { client, redirectUri, responseMode: modeOf(params, redirectUri), state }
}

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

const malformed = (refuse: Refuse): OAuthError =>
  refuse('invalid_request', 'The parameter claims is malformed', 'claims_malformed')

/** Pages show the names, and a link can contain any: a name with spaces could be a sentence to the user. */
const nameForm = /^[\x21-\x7E]+$/u

function parseJson(text: string): Json | undefined {
  try {
    return parseExactJson(text) as Json
  } catch {
    // Input from callers may not be JSON.
    return undefined
  }
}

function claimOf([name, request]: readonly [string, Json], refuse: Refuse): ClaimRequest {
  if (name.length > maxNameLength || (request !== null && !isJsonObject(request))) throw malformed(refuse)
  const { essential, value, values } = request ?? {}
  if (values !== undefined && !Array.isArray(values)) throw malformed(refuse)
  return { name, essential: essential === true, values: value === undefined ? values : [value] }
}

/** Unknown members and names are ignored, as sections 5.5 and 5.5.1 require. */
function claimsIn(section: Json | undefined, refuse: Refuse): readonly ClaimRequest[] {
  if (section === undefined || section === null) return []
  if (!isJsonObject(section)) throw malformed(refuse)
  const claims = Object.entries(section)
  if (claims.length > maxClaims) throw malformed(refuse)
  return claims.map((claim) => claimOf(claim, refuse)).filter(({ name }) => nameForm.test(name))
}

/** @throws OAuthError `invalid_request` */
export function parseClaims(text: string | undefined, refuse: Refuse): ClaimsParameter {
  if (text === undefined) return none
  const claims = text.length > maxLength ? undefined : parseJson(text)
  if (!isJsonObject(claims)) throw malformed(refuse)
  return { userinfo: claimsIn(claims.userinfo, refuse), identityToken: claimsIn(claims.id_token, refuse) }
}
