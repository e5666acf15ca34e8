import {
  type Client,
  type EndpointKit,
  type JsonObject,
  type Refuse,
  redirectUriDetail,
  type UnknownCaller,
} from '@grantry/core'
import * as v from 'valibot'
import {
  type AuthorizationParameters,
  assertState,
  type Session,
} from '../authorization-endpoint/authorization-endpoint.ts'
import { asciiUriOf, withQuery } from '../shared/browser-cookie.ts'

const checkedHint = v.object({ clientId: v.string(), sub: v.string(), sid: v.optional(v.string()) })

type LogoutHint = Readonly<v.InferOutput<typeof checkedHint>>

/** A checked logout request. @see OpenID Connect RP-Initiated Logout 1.0 section 2 */
export interface LogoutRequest {
  /** The client of the hint or of `client_id`. */
  readonly client: Client | undefined
  /** Where the browser goes afterwards, with the state: a registered URI of the client. */
  readonly location: string | undefined
  /** The user and the session that the client wants to end. */
  readonly hint: LogoutHint | undefined
  readonly uiLocales: string | undefined
  /** What a form needs to repeat the request. Without the hint, which has been checked. */
  readonly params: AuthorizationParameters
}

const names: ReadonlySet<string> = new Set([
  'id_token_hint',
  'checked_hint',
  'logout_hint',
  'client_id',
  'post_logout_redirect_uri',
  'state',
  'ui_locales',
])

/** Returns the parameters of a logout, and drops others, because parameters appear in URLs and forms. */
export const logoutParametersOf = (params: AuthorizationParameters): AuthorizationParameters =>
  Object.fromEntries(Object.entries(params).filter(([name]) => names.has(name)))

/** Characters of hints, which are not used, and of locales. */
const maxHintLength = 1000
/** Bytes of a redirect. */
const maxLocationLength = 8192

function audienceOf({ aud }: JsonObject): string | undefined {
  const [only, ...others] = Array.isArray(aud) ? aud : [aud]
  return typeof only === 'string' && others.length === 0 ? only : undefined
}

/** Seconds: the browser follows a redirect with it. */
const checkedHintLifetime = 60

/**
 * Returns the parameters with which a POST becomes a GET. An identity token has claims about the user, which must not
 * appear in a URL: histories and logs keep it.
 */
export async function urlParametersOf({ params, hint }: LogoutRequest, kit: EndpointKit) {
  if (hint === undefined) return params
  const { sid, ...more } = hint
  const content = { ...more, ...(sid !== undefined && { sid }) }
  return { ...params, checked_hint: await kit.seal(content, kit.now() + checkedHintLifetime) }
}

/** @throws OAuthError for a token of another issuer, or one that was changed. An expired one is accepted. */
async function readHint({ id_token_hint: hint, checked_hint: checked }: AuthorizationParameters, kit: EndpointKit) {
  if (checked !== undefined) {
    return kit.unseal(checked, checkedHint)
  }
  if (hint === undefined) return undefined
  const claims = await kit.readIdentityToken(hint)
  const clientId = claims && audienceOf(claims)
  if (typeof claims?.sub !== 'string' || clientId === undefined) {
    throw kit.refuse('invalid_request', 'The id_token_hint is not valid', 'hint_invalid')
  }
  return { clientId, sub: claims.sub, sid: typeof claims.sid === 'string' ? claims.sid : undefined }
}

/** @throws OAuthError for a URI that no reply could contain: the session would have ended without it. */
function locationOf(redirectUri: string, state: string | undefined, refuse: Refuse): string {
  const location = state === undefined ? asciiUriOf(redirectUri) : withQuery(redirectUri, { state })
  if (location.length > maxLocationLength) {
    throw refuse('invalid_request', 'The post_logout_redirect_uri is too long', 'too_long')
  }
  return location
}

/**
 * Checks a logout request. Until this has succeeded, nothing ends, and nothing is sent to a URI of the request.
 *
 * @throws OAuthError for the user: no client receives errors of a logout.
 * @see OpenID Connect RP-Initiated Logout 1.0 sections 2, 3 and 4
 */
export async function checkLogoutRequest(
  params: AuthorizationParameters,
  http: UnknownCaller,
  kit: EndpointKit,
): Promise<LogoutRequest> {
  const { refuse } = kit
  const { client_id: presentedId, post_logout_redirect_uri: redirectUri, state, ui_locales: uiLocales } = params
  for (const name of ['logout_hint', 'ui_locales']) {
    if ((params[name] ?? '').length > maxHintLength) {
      throw refuse('invalid_request', `The parameter ${name} is too long`, 'too_long')
    }
  }
  assertState(state, refuse)
  const hint = await readHint(params, kit)
  if (hint !== undefined && presentedId !== undefined && presentedId !== hint.clientId) {
    throw refuse('invalid_request', 'The id_token_hint belongs to another client', 'hint_of_other_client')
  }
  const clientId = presentedId ?? hint?.clientId
  if (clientId === undefined && redirectUri !== undefined) {
    const text = 'A post_logout_redirect_uri needs an id_token_hint or a client_id'
    throw refuse('invalid_request', text, 'client_id_missing')
  }
  // Without a caller for the client of a hint, which a token names: a client that has ended must not keep users from
  // signing out.
  const caller = presentedId === undefined ? undefined : http
  const client = clientId === undefined ? undefined : await kit.findClient(clientId, caller)
  if (client === undefined && (presentedId !== undefined || redirectUri !== undefined)) {
    throw refuse('unauthorized_client', 'The client is not known', 'client_unknown')
  }
  // No port may differ, unlike that of a redirect URI: section 3.1 requires an exact match.
  if (redirectUri !== undefined && !client?.postLogoutRedirectUris.includes(redirectUri)) {
    const detail = redirectUriDetail(redirectUri, client?.postLogoutRedirectUris ?? [])
    const facts = { detail, clientId: client?.clientId }
    const text = 'The post_logout_redirect_uri is not registered'
    throw refuse('invalid_request', text, 'post_logout_redirect_uri_mismatch', facts)
  }
  const location = redirectUri === undefined ? undefined : locationOf(redirectUri, state, refuse)
  const repeated = { client_id: client?.clientId, post_logout_redirect_uri: redirectUri, state, ui_locales: uiLocales }
  return {
    client,
    location,
    hint,
    uiLocales,
    params: Object.fromEntries(Object.entries(repeated).flatMap(([name, value]) => (value ? [[name, value]] : []))),
  }
}

/**
 * Whether the client has proved that it means the session. Otherwise, the user is asked (section 2). Its `sid` proves it:
 * a token without one, which can be years old, belongs to no session.
 */
export const isHinted = ({ hint }: LogoutRequest, { sid, subject }: Session): boolean =>
  hint !== undefined && hint.sub === subject.sub && hint.sid === sid
