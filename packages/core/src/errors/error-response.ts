import { jsonHeaders, type PlainResponse } from '../http/plain-response.ts'
import { coreErrors, type ErrorRecipient, isCoreError, type Statuses } from './error-codes.ts'
import { isOAuthError, OAuthError } from './oauth-error.ts'

/** The HTTP statuses of the error codes that plugins add. */
export type PluginErrors = ReadonlyMap<string, Statuses>

/** A scheme of access tokens, with the additional parameters of its challenge: each begins with `, `. */
export interface TokenScheme {
  readonly name: string
  readonly parameters: string
}

/** What the response to an error depends on besides the error itself. */
export interface ErrorContext {
  /** The issuer. */
  readonly realm: string
  readonly pluginErrors: PluginErrors
  /** The schemes of access tokens, `Bearer` first. */
  readonly schemes: readonly [TokenScheme, ...TokenScheme[]]
  /** The headers that plugins can add to an error, in lower case. */
  readonly exposedHeaders: readonly string[]
}

function statusOf(code: string, recipient: ErrorRecipient, pluginErrors: PluginErrors): number {
  const row = isCoreError(code) ? coreErrors[code] : pluginErrors.get(code)
  return row?.[recipient] ?? 500
}

// RFC 6749 section 5.2 and RFC 6750 section 3: %x20-21 / %x23-5B / %x5D-7E. Other characters are removed from the body
// and the header, also from plugins' texts.
const invalidInDescription = /[^\x20-\x21\x23-\x5B\x5D-\x7E]/gu

const quoted = (text: string): string => `"${text.replaceAll(invalidInDescription, '')}"`

// RFC 9110 section 5.5, without white space and non-ASCII characters.
const headerValue = /^[\x21-\x7E]{1,500}$/u

/**
 * Returns a copy of the headers that a plugin sets; `undefined` if it may not set one of them. They are not trusted:
 * another header could change the response.
 */
export function exposedIn(headers: unknown, exposed: readonly string[]): Readonly<Record<string, string>> | undefined {
  if (typeof headers !== 'object' || headers === null) return undefined
  const entries = Object.entries(headers)
  const isAllowed = ([name, value]: readonly [string, unknown]): boolean =>
    exposed.includes(name) && typeof value === 'string' && headerValue.test(value)
  return entries.every(isAllowed) ? Object.fromEntries(entries) : undefined
}

/** Whether more members of a body can be sent. RFC 6749 section 5.2 defines those that begin with `error`. */
const areMembers = (members: unknown): boolean =>
  Object.entries(Object(members)).every(
    ([name, value]) =>
      /^(?!error)[a-z_]{1,50}$/u.test(name) &&
      (Number.isSafeInteger(value) || (typeof value === 'string' && value.length <= 1000)),
  )

const allowedStatuses: ReadonlySet<unknown> = new Set([
  undefined,
  404,
  405,
  406,
  409,
  412,
  413,
  414,
  415,
  422,
  428,
  429,
])

/**
 * Whether an error can be sent as it is. Errors from plugins are not trusted: an unknown code or status, or an invalid
 * header value, is a defect in the plugin and becomes `server_error`.
 */
export function isWellFormed({ code, details }: OAuthError, { pluginErrors, exposedHeaders }: ErrorContext): boolean {
  const { reason, status, allow, retryAfter, scope, port, headers, detail, clientId, member, explanation, members } =
    details ?? {}
  return (
    typeof reason === 'string' &&
    (isCoreError(code) || pluginErrors.has(code)) &&
    allowedStatuses.has(status) &&
    (scope === undefined || typeof scope === 'string') &&
    [port, detail, clientId, member, explanation].every((text) => text === undefined || typeof text === 'string') &&
    (allow === undefined || /^[A-Z, ]+$/u.test(allow)) &&
    (retryAfter === undefined || (Number.isSafeInteger(retryAfter) && retryAfter >= 0)) &&
    areMembers(members) &&
    (headers === undefined || exposedIn(headers, exposedHeaders) !== undefined)
  )
}

/** Returns what events contain for an error that is not well-formed. */
function defectOf(error: OAuthError, { pluginErrors }: ErrorContext): Error {
  const code: unknown = error.code
  // A code of another form could be a secret.
  if (typeof code !== 'string' || !/^[a-z_]{1,50}$/u.test(code) || isCoreError(code) || pluginErrors.has(code)) {
    return error
  }
  const message = `No plugin declares the error code ${code}; add it to errors of defineFields()`
  return new TypeError(message, { cause: error })
}

/** Returns a thrown value as an error that can be sent: `server_error`, unless it is well-formed. */
export function asOAuthError(thrown: unknown, context: ErrorContext): OAuthError {
  if (isOAuthError(thrown) && isWellFormed(thrown, context)) return thrown
  const cause = isOAuthError(thrown) ? defectOf(thrown, context) : thrown
  return new OAuthError('server_error', 'The request failed', { reason: 'unhandled_failure', cause })
}

/** RFC 6750 section 3.1. Client libraries take any challenge for one of the token, and do not read the body then. */
const bearerErrors: ReadonlySet<string> = new Set(['invalid_request', 'invalid_token', 'insufficient_scope'])

/**
 * Returns the challenges for an access token: that of the scheme which the request used, with the error, and with status
 * 401 those of the other schemes (RFC 6750 section 3, RFC 9449 section 7.1).
 */
function tokenChallenges(
  { code, message, details }: OAuthError,
  status: number,
  { realm, schemes }: ErrorContext,
  used: string | undefined,
): string | undefined {
  const isOfToken = status === 401 || status === 403 || (status === 400 && bearerErrors.has(code))
  if (!isOfToken) return undefined
  const scope = details.scope === undefined ? '' : `, scope=${quoted(details.scope)}`
  const failure = `, error="${code}", error_description=${quoted(message)}${scope}`
  const challengeOf = ({ name, parameters }: TokenScheme, problem = ''): string =>
    `${name} realm=${quoted(realm)}${problem}${parameters}`
  const attempted = details.withoutCredentials ? undefined : (schemes.find(({ name }) => name === used) ?? schemes[0])
  const others = status === 401 ? schemes.filter((scheme) => scheme !== attempted) : []
  return [
    ...(attempted === undefined ? [] : [challengeOf(attempted, failure)]),
    ...others.map((scheme) => challengeOf(scheme)),
  ].join(', ')
}

function challenge(
  error: OAuthError,
  recipient: ErrorRecipient,
  status: number,
  context: ErrorContext,
  scheme: string | undefined,
): string | undefined {
  if (recipient === 'bearer') return tokenChallenges(error, status, context, scheme)
  return status === 401 ? `Basic realm=${quoted(context.realm)}` : undefined
}

/**
 * Converts an error to a response.
 *
 * @param scheme the scheme of the access token that the request presents
 */
export function errorResponse(
  error: OAuthError,
  recipient: ErrorRecipient,
  context: ErrorContext,
  scheme?: string,
): PlainResponse {
  const { code, details } = error
  const status = details.status ?? statusOf(code, recipient, context.pluginErrors)
  const headers: Record<string, string> = { ...jsonHeaders, ...exposedIn(details.headers, context.exposedHeaders) }
  const authenticate = challenge(error, recipient, status, context, scheme)
  if (authenticate !== undefined) headers['www-authenticate'] = authenticate
  if (details.allow !== undefined) headers.allow = details.allow
  if (details.retryAfter !== undefined) headers['retry-after'] = String(details.retryAfter)
  if (details.withoutCredentials) {
    delete headers['content-type']
    return { status, headers, body: null }
  }
  const description = error.message.replaceAll(invalidInDescription, '')
  // An internal failure has no description on the wire: wire contract, section 1.
  const body =
    code === 'server_error' ? { error: code } : { error: code, error_description: description, ...details.members }
  return { status, headers, body: JSON.stringify(body) }
}
