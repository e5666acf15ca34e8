import type { Client, OAuthError, Reply } from '@grantry/core'
import type { EndpointPages } from './pages.ts'
import type { AuthorizationParameters } from './parameters.ts'

export const responseModes = ['query', 'fragment', 'form_post'] as const
export type ResponseMode = (typeof responseModes)[number]

export const responseModeOf = (text: string | undefined): ResponseMode | undefined =>
  responseModes.find((mode) => mode === text)

/** Where the response to a request goes. The redirect URI is one of the client's. */
export interface Target {
  readonly client: Client
  readonly redirectUri: string
  readonly responseMode: ResponseMode
  readonly state: string | undefined
}

/**
 * Where forms of a page may lead if the response of the endpoint follows them. Browsers apply `form-action` to every
 * redirect after a form, also to those of the client, which can lead to other hosts. Hence schemes, not origins.
 */
export function formTargets({ redirectUri }: Pick<Target, 'redirectUri'>): readonly string[] {
  const { protocol } = new URL(redirectUri)
  return protocol === 'https:' ? ['https:'] : ['https:', protocol]
}

/** How responses are written. */
export interface ResponseTools {
  readonly issuer: string
  readonly pages: Pick<EndpointPages, 'formPost'>
  /** The language of the page that `form_post` needs. */
  readonly locale: string
}

/**
 * Sends parameters to the client, with `state` and `iss`.
 *
 * @see RFC 6749 section 4.1.2; RFC 9207 section 2; OAuth 2.0 Form Post Response Mode
 */
function responseTo(
  target: Target,
  parameters: AuthorizationParameters,
  { issuer, pages, locale }: ResponseTools,
): Reply {
  const { redirectUri, responseMode, state } = target
  const fields = { ...parameters, ...(state !== undefined && { state }), iss: issuer }
  if (responseMode === 'form_post') {
    return pages.formPost({ action: redirectUri, fields, formTargets: formTargets(target) }, locale)
  }
  const encoded = new URLSearchParams(fields)
  if (responseMode === 'fragment') return { location: `${redirectUri}#${encoded}` }
  return { location: `${redirectUri}${redirectUri.includes('?') ? '&' : '?'}${encoded}` }
}

export const codeResponse = (target: Target, code: string, tools: ResponseTools): Reply =>
  responseTo(target, { code }, tools)

/** OpenID Connect Core section 3.1.2.6. */
export function errorResponse(target: Target, error: OAuthError, tools: ResponseTools): Reply {
  const parameters = { error: error.code, error_description: error.message }
  return { ...responseTo(target, parameters, tools), error }
}
