import type { IncomingMessage } from 'node:http'
import { badHost, badMethod, type HttpError, repeatedHeader, tooManyHeaders } from './send-error.ts'

/** Returns the path and query of a request target, or `undefined` for a target without a path (`*`, an authority). */
export function originForm(target: string): string | undefined {
  if (target.startsWith('/')) return target
  // RFC 9112 section 3.2.2: a server must accept the absolute form. Its host is ignored: the origin comes from the
  // configuration.
  const rest = /^https?:\/\/[^/?#]*(.*)$/iu.exec(target)?.[1]
  if (rest === undefined) return undefined
  return rest.startsWith('/') ? rest : `/${rest}`
}

// The Fetch standard forbids these methods: `new Request()` throws.
const forbiddenMethods: ReadonlySet<string> = new Set(['CONNECT', 'TRACE', 'TRACK'])

const hostForm = /^(?:[\w.~!$&'()*+,;=%-]*|\[[\da-f:.v]+\])(?::\d*)?$/iu

// Node keeps the first of repeated headers. A proxy that uses the last would see another client or content type.
const singular = ['host', 'content-type', 'authorization'] as const

function repeatsSingular(rawHeaders: readonly string[]): boolean {
  let seen = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? ''
    // The names differ in length, so most headers need no comparison.
    const which = singular.findIndex(({ length }) => length === name.length)
    if (which < 0 || name.toLowerCase() !== singular[which]) continue
    const bit = 1 << which
    if ((seen & bit) !== 0) return true
    seen |= bit
  }
  return false
}

/**
 * Entries of `rawHeaders` (names and values) after which Node.js drops header lines without an error. Proxies often
 * append `X-Forwarded-For` last: when that line is dropped, the address is one that the client chose.
 */
const maxEntries = 2000

/** Whether Node.js may have dropped header lines of this request. */
export const lacksHeaders = ({ rawHeaders }: IncomingMessage): boolean => rawHeaders.length >= maxEntries

/**
 * RFC 9112 section 3.2: HTTP/1.1 without a host, and any malformed one, gets 400, even though the value is not used.
 * Node.js checks the former itself, Bun does not.
 */
const isHost = (host: string | undefined, version: string): boolean =>
  host === undefined ? version !== '1.1' : hostForm.test(host)

/** Returns the error for an invalid request head, or `undefined` when it is valid. */
export function checkHead(req: IncomingMessage): HttpError | undefined {
  const { method = '', headers, rawHeaders, httpVersion } = req
  if (forbiddenMethods.has(method)) return badMethod
  if (lacksHeaders(req)) return tooManyHeaders
  if (!isHost(headers.host, httpVersion)) return badHost
  return repeatsSingular(rawHeaders) ? repeatedHeader : undefined
}
