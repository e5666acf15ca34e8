import { type Client, OAuthError, type Reply } from '@grantry/core'
import type { EndpointPages } from './pages.ts'
import type { AuthorizationParameters } from './parameters.ts'
import { clientError } from './refusal.ts'

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

/** Returns the tools for the response to a request. */
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
  // Before the request was checked: a longer list is refused.
  locale: pages.localeOf(shortOnly(params.ui_locales), http.header('accept-language')),
})

/** A header cannot contain other characters. Browsers encode them in the same way. */
const asciiUri = /^[\x21-\x7E]+$/u
export const asciiUriOf = (uri: string): string => (asciiUri.test(uri) ? uri : new URL(uri).href)

/** Adds parameters to the query of a registered URI. */
export const withQuery = (uri: string, parameters: AuthorizationParameters): string =>
  `${asciiUriOf(uri)}${uri.includes('?') ? '&' : '?'}${new URLSearchParams(parameters)}`

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
