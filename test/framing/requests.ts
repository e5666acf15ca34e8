import { basic, type Credentials } from '@grantry/core/testing'
import { other, web, webJwt } from '../support/fixture.ts'

/** Sends the request that a case is about. */
export const outer: Credentials = web
/** Would get a token if a request hidden in another were answered. */
export const hidden: Credentials = other
/** Asks whether the server goes on serving. */
export const probe: Credentials = webJwt

export const form = 'grant_type=client_credentials&scope=api1'

/** Lines and the empty one. */
export const head = (...lines: string[]): string => `${lines.join('\r\n')}\r\n\r\n`
export const length = (bytes: number | string): string => `Content-Length: ${bytes}`
export const inChunks = 'Transfer-Encoding: chunked'
export const close = 'Connection: close'
export const host = 'Host: id.example.com'

/** A body in chunks, with the last. */
export const chunks = (...parts: string[]): string =>
  [...parts, ''].map((part) => `${part.length.toString(16)}\r\n${part}\r\n`).join('')

export interface TokenRequest {
  readonly as?: Credentials
  readonly method?: string
  readonly target?: string
  readonly version?: string
  /** All lines about the host; default one. */
  readonly hosts?: readonly string[]
  /** Lines about the body's length. */
  readonly lengths?: readonly string[]
  readonly body?: string
  readonly more?: readonly string[]
  readonly keep?: boolean
}

/** A right request for a token, but for what is said; the server closes after it unless `keep`. */
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

/** What an attacker would like the server to take for a request of its own. */
export const hiddenRequest = tokenRequest({ as: hidden })

export const get = (target: string, ...more: string[]): string => head(`GET ${target} HTTP/1.1`, host, ...more, close)
