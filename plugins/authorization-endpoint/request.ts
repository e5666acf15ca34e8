import type { Client, Confirmation, EndpointKit, JsonObject, Proposal, Refuse } from '@grantry/core'
import {
  type ClaimRequest,
  type ClaimsParameter,
  findTarget,
  type Prompt,
  parseClaims,
  promptsOf,
  type RequestOptions,
  withoutCredentials,
  wordsOf,
} from './parameters.ts'
import {
  type AuthorizationParameters,
  maxHintLength,
  type ResponseMode,
  receivesForms,
  responseModeOf,
  type Target,
} from './response.ts'

export const displays = ['page', 'popup', 'touch', 'wap'] as const
export type Display = (typeof displays)[number]

/** A checked authorization request. @see OpenID Connect Core section 3.1.2.1 */
export interface CheckedRequest {
  readonly client: Client
  readonly redirectUri: string
  readonly responseMode: ResponseMode
  readonly state: string | undefined
  readonly nonce: string | undefined
  /** Each exists and is allowed for the client. */
  readonly scopes: readonly string[]
  readonly prompts: ReadonlySet<Prompt>
  /** Seconds since the last authentication of the user; from the request, or `defaultMaxAge` of the client. */
  readonly maxAge: number | undefined
  /** `undefined` also for a value that the standard does not define. */
  readonly display: Display | undefined
  readonly loginHint: string | undefined
  /** The user of the `id_token_hint`: only this user may get the code. */
  readonly hintedSub: string | undefined
  readonly uiLocales: string | undefined
  readonly claimsLocales: string | undefined
  readonly acrValues: readonly string[]
  readonly claims: ClaimsParameter
  /** All parameters, for `authorize` and for extensions of the host. `scope` has only `scopes`. */
  readonly params: AuthorizationParameters
  /** The keys that a pushed request has proved. */
  readonly confirmation: Confirmation | undefined
  /** When the request arrived (epoch seconds). */
  readonly startedAt: number
  /** What the core has checked. A user authorizes it, or a part of it. */
  readonly proposal: Proposal
}

/** An authorization request, before it is checked. */
export interface ReceivedRequest {
  readonly params: AuthorizationParameters
  readonly confirmation: Confirmation | undefined
  /** Epoch seconds. */
  readonly startedAt: number
  /** The `request_uri` of a pushed request. */
  readonly pushed?: string | undefined
  /** The epoch of the client when it pushed the request. */
  readonly clientEpoch?: string | undefined
}

/** The maximum size of all parameters in bytes, because requests of callers without credentials are stored. */
const maxBytes = 16_384

function assertResponseType({ response_type: type }: AuthorizationParameters, refuse: Refuse): void {
  if (type === undefined) {
    throw refuse('invalid_request', 'The parameter response_type is required', 'response_type_missing')
  }
  if (type !== 'code') {
    throw refuse('unsupported_response_type', 'The response_type must be code', 'response_type_unsupported')
  }
}

/** OpenID Connect Core section 3.1.2.6: a provider that does not support these parameters must return an error. */
function assertNoRequestObject(params: AuthorizationParameters, refuse: Refuse): void {
  const { request, request_uri, registration } = params
  if (request !== undefined) {
    throw refuse('request_not_supported', 'Request objects are not supported', 'request_object')
  }
  if (request_uri !== undefined) {
    throw refuse('request_uri_not_supported', 'This request_uri is not supported', 'request_object')
  }
  if (registration !== undefined) {
    throw refuse('registration_not_supported', 'The parameter registration is not supported', 'registration')
  }
}

function assertResponseMode(
  { response_mode: mode }: AuthorizationParameters,
  redirectUri: string,
  refuse: Refuse,
): void {
  const known = responseModeOf(mode)
  if (mode !== undefined && known === undefined) {
    throw refuse('invalid_request', 'The response_mode is not supported', 'response_mode_unsupported')
  }
  if (known === 'form_post' && !receivesForms(redirectUri)) {
    throw refuse('invalid_request', 'The response_mode does not fit the redirect_uri', 'response_mode_unsupported')
  }
}

function maxAgeOf(
  { max_age: text }: AuthorizationParameters,
  { defaultMaxAge }: Client,
  refuse: Refuse,
): number | undefined {
  if (text === undefined) return defaultMaxAge
  if (!/^\d+$/u.test(text)) {
    throw refuse('invalid_request', 'The parameter max_age is malformed', 'max_age_malformed')
  }
  return Math.min(Number(text), Number.MAX_SAFE_INTEGER)
}

function assertShort(params: AuthorizationParameters, refuse: Refuse): void {
  if (new TextEncoder().encode(JSON.stringify(params)).length > maxBytes) {
    throw refuse('invalid_request', 'The request is too long', 'too_long')
  }
  for (const name of ['login_hint', 'ui_locales', 'claims_locales', 'acr_values']) {
    if ((params[name] ?? '').length > maxHintLength) {
      throw refuse('invalid_request', `The parameter ${name} is too long`, 'too_long')
    }
  }
}

const isAudience = ({ aud }: JsonObject, clientId: string): boolean =>
  Array.isArray(aud) ? aud.includes(clientId) : aud === clientId

async function hintedSubOf(
  { id_token_hint: hint }: AuthorizationParameters,
  { clientId }: Client,
  kit: EndpointKit,
): Promise<string | undefined> {
  if (hint === undefined) return undefined
  const claims = await kit.readIdentityToken(hint)
  if (typeof claims?.sub !== 'string' || !isAudience(claims, clientId)) {
    throw kit.refuse('invalid_request', 'The id_token_hint is not valid', 'hint_invalid')
  }
  return claims.sub
}

const namesOf = (claims: readonly ClaimRequest[]): readonly string[] => claims.map(({ name }) => name)

/** Lets the core check the request that `authorize` will store. */
const propose = (
  { client, redirectUri }: Target,
  { params, confirmation, pushed, clientEpoch }: ReceivedRequest,
  claims: ClaimsParameter,
  kit: EndpointKit,
): Promise<Proposal> =>
  kit.openAuthorization(
    {
      kind: 'code',
      clientId: client.clientId,
      redirectUri,
      scope: params.scope,
      params,
      requestedClaims: { userinfo: namesOf(claims.userinfo), identityToken: namesOf(claims.identityToken) },
      omitsRedirectUri: params.redirect_uri === undefined,
      nonce: params.nonce,
      confirmation,
      // A pushed request ends with a revocation of the client that has sent it.
      ...(pushed !== undefined && { clientEpoch: clientEpoch ?? null }),
    },
    client,
  )

/**
 * Checks everything but the client and the redirect URI.
 *
 * @throws OAuthError for the client.
 */
export async function checkRequest(
  target: Target,
  received: ReceivedRequest,
  kit: EndpointKit,
  options: RequestOptions = { createsAccounts: false },
): Promise<CheckedRequest> {
  const { client, redirectUri, responseMode, state } = target
  const { params, confirmation, startedAt } = received
  const { refuse } = kit
  assertResponseType(params, refuse)
  assertNoRequestObject(params, refuse)
  assertResponseMode(params, redirectUri, refuse)
  assertShort(params, refuse)
  const prompts = promptsOf(params, options, refuse)
  const maxAge = maxAgeOf(params, client, refuse)
  const claims = parseClaims(params.claims, refuse)
  const hintedSub = await hintedSubOf(params, client, kit)
  const proposal = await propose(target, received, claims, kit)
  const { scopes } = proposal
  // A page can have shown an earlier scope with this name.
  const isReplaced = kit.lastingScopes(scopes, startedAt).length < scopes.length
  if (isReplaced) throw refuse('invalid_scope', 'A scope has changed, request it again', 'scope_replaced')
  return {
    client,
    redirectUri,
    responseMode,
    state,
    nonce: params.nonce,
    scopes,
    prompts,
    maxAge,
    display: displays.find((display) => display === params.display),
    loginHint: params.login_hint,
    hintedSub,
    uiLocales: params.ui_locales,
    claimsLocales: params.claims_locales,
    acrValues: wordsOf(params.acr_values),
    claims,
    // A repeated request must not gain a scope that the client gets in the meantime, because no page has shown it.
    params: { ...params, scope: scopes.join(' ') },
    confirmation,
    startedAt,
    proposal,
  }
}

/**
 * Checks a request that its client has sent to an endpoint of a feature, such as a pushed one, as the authorization endpoint
 * will check it again. Returns the parameters that are worth storing: without credentials.
 *
 * @throws OAuthError for the client.
 */
export async function checkPushedRequest(
  received: AuthorizationParameters,
  caller: Client,
  confirmation: Confirmation | undefined,
  kit: EndpointKit,
): Promise<AuthorizationParameters> {
  const params = { ...withoutCredentials(received), client_id: caller.clientId }
  // Comes first: with a request object, the other parameters can be missing.
  assertNoRequestObject(params, kit.refuse)
  const target = await findTarget(params, kit, { client: caller })
  await checkRequest(target, { params, confirmation, startedAt: kit.now() }, kit, { createsAccounts: true })
  return params
}
