import { basic, type Credentials } from '@grantry/testing'
import { otherClient, web, webJwt } from '../support/fixture.ts'

/** The client of the visible request. */
export const outer: Credentials = web
/** The client of a request that is hidden inside another. */
export const hidden: Credentials = otherClient
/** The client that checks whether the server still serves. */
export const probe: Credentials = webJwt

export const form = 'grant_type=client_credentials&scope=api1'

/** Joins the lines and adds the empty line. */
export const head = (...lines: string[]): string => `${lines.join('\r\n')}\r\n\r\n`
export const length = (bytes: number | string): string => `Content-Length: ${bytes}`
export const inChunks = 'Transfer-Encoding: chunked'
export const close = 'Connection: close'
export const host = 'Host: id.example.com'

/** Returns a chunked body, including the last chunk. */
export const chunks = (...parts: string[]): string =>
  [...parts, ''].map((part) => `${part.length.toString(16)}\r\n${part}\r\n`).join('')

export interface TokenRequest {
  readonly as?: Credentials
  readonly method?: string
  readonly target?: string
  readonly version?: string
  /** All Host lines; default: one. */
  readonly hosts?: readonly string[]
  /** The Content-Length and Transfer-Encoding lines. */
  readonly lengths?: readonly string[]
  readonly body?: string
  readonly more?: readonly string[]
  readonly keep?: boolean
}

/**
 * Returns a token request, valid except for the given parts. The server closes the connection after it unless `keep`.
 */
export function tokenRequest(parts: TokenRequest = {}): string {
  const { as = outer, method = 'POST', target = '/connect/token', version = 'HTTP/1.1', body = form } = parts
  return (
    head(
      `${method} ${target} ${version}`,
      ...(parts.hosts ?? [host]),
      `Authorization: ${basic(as)}`,
      'Content-Type: application/x-www-form-urlencoded',
      ...(parts.more ?? []),
      ...(parts.keep ? [] : [close]),
      ...(parts.lengths ?? [length(body.length)]),
    ) + body
  )
}

/** A request that an attacker hides inside another. */
export const hiddenRequest = tokenRequest({ as: hidden })

export const get = (target: string, ...more: string[]): string => head(`GET ${target} HTTP/1.1`, host, ...more, close)
