import { type Client, type EndpointKit, type EndpointRequest, OAuthError, type Reply } from '@grantry/core'
import { asciiUriOf, withQuery } from '../shared/browser-cookie.ts'
import { homeOf, isUnknownPath, unknownPathView } from '../shared/unknown-path.ts'
import { answeredClientOf } from './answered.ts'
import type { EndpointPages, ErrorView } from './authorization-pages.ts'
import { clientError } from './refusal.ts'
import { registeredFor, type Sender } from './registered.ts'

/** The parameters of an authorization request, or of its response, under their wire names. */
export type AuthorizationParameters = Readonly<Record<string, string>>

export const responseModes = ['query', 'fragment', 'form_post'] as const
export type ResponseMode = (typeof responseModes)[number]

export const responseModeOf = (text: string | undefined): ResponseMode | undefined =>
  responseModes.find((mode) => mode === text)

/** Whether a form can be sent to a redirect URI: only web servers receive forms. */
export const receivesForms = (redirectUri: string): boolean => /^https?:/iu.test(redirectUri)

/** Where the response to a request goes. The redirect URI is one of the client's. */
export interface Target {
  readonly client: Client
  readonly redirectUri: string
  readonly responseMode: ResponseMode
  readonly state: string | undefined
}

/**
 * Where forms of a page may lead if the response of the endpoint follows them: the additional sources of `form-action`.
 * Browsers apply it to every redirect after a form, also to those of the client, which no policy can foresee: an `https`
 * redirect URI can lead to an application with a scheme of its own.
 */
export const formTargets: readonly string[] = ['*']

/** How responses are written. */
export interface ResponseTools {
  readonly issuer: string
  readonly pages: Pick<EndpointPages, 'formPost'>
  /** The language of the page that `form_post` needs. */
  readonly locale: string
}

/** Characters of hints and locales, which are shown or stored. */
export const maxHintLength = 1000

const shortOnly = (text: string | undefined): string | undefined =>
  text === undefined || text.length > maxHintLength ? undefined : text

export const responseTools = (
  pages: EndpointPages,
  {
    kit,
    http,
    params,
  }: {
    readonly kit: { readonly issuer: string }
    readonly http: { header(name: string): string | null }
    readonly params: AuthorizationParameters
  },
): ResponseTools => ({
  issuer: kit.issuer,
  pages,
  // The request is not checked yet. A longer list is refused later.
  locale: pages.localeOf(shortOnly(params.ui_locales), http.header('accept-language')),
})

/**
 * Sends parameters to the client, with `state` and `iss`.
 *
 * @see RFC 6749 section 4.1.2; RFC 9207 section 2; OAuth 2.0 Form Post Response Mode
 */
function responseTo(
  target: Target,
  parameters: AuthorizationParameters,
  { issuer, pages, locale }: ResponseTools,
  sent: 'immediately' | 'by the user' = 'immediately',
): Reply {
  const { redirectUri, responseMode, state } = target
  const fields = Object.assign({}, parameters, state === undefined ? { iss: issuer } : { state, iss: issuer })
  if (responseMode === 'form_post') {
    return pages.formPost({ action: redirectUri, fields, formTargets, waits: sent === 'by the user' }, locale)
  }
  if (responseMode === 'fragment') return { location: `${asciiUriOf(redirectUri)}#${new URLSearchParams(fields)}` }
  return { location: withQuery(redirectUri, fields) }
}

export const codeResponse = (target: Target, code: string, tools: ResponseTools): Reply =>
  responseTo(target, { code }, tools)

// RFC 6749 section 4.1.2.1. Texts of plugins can contain other characters.
const invalidInDescription = /[^\x20-\x21\x23-\x5B\x5D-\x7E]/gu

function errorParameters({ code, message }: OAuthError): AuthorizationParameters {
  // An internal failure has no description on the wire: wire contract, section 1.
  return code === 'server_error'
    ? { error: code }
    : { error: code, error_description: message.replaceAll(invalidInDescription, '') }
}

/** Sends a refusal, or a failure, to the client. @see OpenID Connect Core section 3.1.2.6 */
export function errorResponse(
  target: Target,
  thrown: unknown,
  tools: ResponseTools,
  sent: 'immediately' | 'by the user' = 'immediately',
): Reply & { readonly error: OAuthError } {
  const error = clientError(thrown)
  const reply = responseTo(target, errorParameters(error), tools, sent)
  const { clientId } = target.client
  // For the event: the client has not authenticated.
  const named = new OAuthError(error.code, error.message, { ...error.details, clientId })
  return { ...reply, ...(reply.html !== undefined && { status: 200 }), error: named }
}

/**
 * Whether a refusal goes to the client only when the user follows a link. Otherwise, a link to the provider with a mistake
 * in it would lead to the site of any client, before the user has seen a page or signed in. A client with
 * `requireConsent: false` is trusted; `prompt=none` must not show a page.
 *
 * @see RFC 9700 section 4.11.2; OpenID Connect Core section 3.1.2.6
 */
export const needsPageFirst = ({ requireConsent }: Client, { prompt = '' }: AuthorizationParameters): boolean =>
  requireConsent !== false && !prompt.split(' ').includes('none')

/** Shows a refusal, with a link or a button that takes it to the client. */
export function pageFirst(
  target: Target,
  thrown: unknown,
  tools: ResponseTools & { readonly pages: EndpointPages },
  sender: Sender,
  more: Pick<ErrorView, 'requestId' | 'home'>,
): Reply & { readonly error: OAuthError } {
  const { location, ...reply } = errorResponse(target, thrown, tools, 'by the user')
  if (location === undefined) return reply
  const { code, details } = reply.error
  const { clientName = target.client.clientId } = target.client
  const view = {
    code,
    reason: details.reason,
    returnTo: { name: clientName, url: location },
    ...more,
    ...registeredFor(tools, sender, target.client),
  }
  return { ...tools.pages.error(view, tools.locale), error: reply.error }
}

/** Characters. A form repeats the query, so it must be far from the limit for bodies. */
const maxQueryLength = 4000

/** With these, the endpoint takes the refusal of an incomplete request to the client. */
const ofResponse = ['client_id', 'redirect_uri', 'state', 'response_mode'] as const

/**
 * Returns the query that begins a request again after it has expired or was answered. For a pushed request, and for one
 * that is too long, it leads to the client with an error. An identity token, which has claims about the user, is left out.
 */
export function restartQueryOf(params: AuthorizationParameters, isPushed: boolean): string {
  const { id_token_hint: _, ...repeatable } = params
  const whole = new URLSearchParams(repeatable).toString()
  if (!isPushed && whole.length <= maxQueryLength) return whole
  return new URLSearchParams(
    ofResponse.flatMap((name) => (params[name] === undefined ? [] : [[name, params[name]]])),
  ).toString()
}

/** Returns the URL that begins a request again. Only the query comes from the form. */
export function restartUrlOf(kit: EndpointKit, query: string): string | undefined {
  if (query === '' || query.length > 2 * maxQueryLength || !new URLSearchParams(query).has('client_id'))
    return undefined
  return `${kit.endpointUrl('authorization')}?${new URLSearchParams(query)}`
}

const isHttps = (uri: string): boolean => /^https:/iu.test(uri)

/** A redirect URI that opens a program of the device (RFC 8252 section 7.1). Without a response, the program ignores it. */
const isOwnScheme = (uri: string): boolean => /^[a-z][a-z\d+-]*\.[a-z\d+.-]+:/iu.test(uri)

/** The host of a URL, or its scheme if that is the name of a program. */
const placeOf = (url: string): string => new URL(url).host || new URL(url).protocol.slice(0, -1)

/**
 * A link back to the application: what its configuration names, the host of its redirect URI, or the program on the device.
 * Never an address of the request. Of a client that has described itself, the link has the name of its host or scheme: a
 * stranger could write any other text on it, on a page of this service.
 */
export function applicationOf(client: Client | undefined): ErrorView['returnTo'] {
  if (client === undefined) return undefined
  const { clientId, clientName = clientId, initiateLoginUri, clientUri, redirectUris, selfDescribed } = client
  const host = redirectUris.find(isHttps)
  const named = clientUri ?? initiateLoginUri ?? (host === undefined ? undefined : new URL(host).origin)
  const url = named ?? redirectUris.find(isOwnScheme)
  return url === undefined ? undefined : { name: selfDescribed === undefined ? clientName : placeOf(url), url }
}

/** Returns what the page of a refusal shows, with the ways on that are known. */
export async function errorViewOf(
  error: OAuthError,
  http: EndpointRequest,
  kit: EndpointKit,
  ways: Pick<ErrorView, 'restart' | 'returnTo'> = {},
): Promise<ErrorView> {
  // An unknown path belongs to no request of a client, so no metadata document is fetched.
  if (isUnknownPath(error)) return unknownPathView(error, http, kit)
  const {
    code,
    details: { reason },
  } = error
  const { searchParams } = new URL(http.url)
  const begun = ways.restart === undefined ? undefined : new URL(ways.restart).searchParams
  const named = (begun ?? searchParams).get('client_id')
  const clientOf = async (id: string | null) => (id === null ? undefined : kit.findClient(id, http))
  // A refusal because of a failure must not fail again.
  const client = await (named === null
    ? answeredClientOf(kit, searchParams.get('interaction')).then(clientOf)
    : clientOf(named)
  ).catch(() => undefined)
  const view = { code, reason, requestId: http.requestId, home: homeOf(kit), returnTo: applicationOf(client), ...ways }
  return { ...view, ...registeredFor(kit, http, client) }
}
