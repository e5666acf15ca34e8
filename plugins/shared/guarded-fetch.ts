import { parseUrl } from '@grantry/core'
import { createBulkhead } from './bulkhead.ts'
import { fetchedUriProblem, type SendRequest, type UriRules } from './fetched-uri.ts'
import { createPublicSend, isAddressRefused, platformSend } from './pinned-send.ts'

/** A request to a URI that comes from a client, an issuer or another party. */
export interface OutgoingRequest {
  /** Default: `GET`. */
  readonly method?: 'GET' | 'POST' | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly body?: string | undefined
  /** Seconds for the whole response. */
  readonly timeout: number
  /** Bytes of the body. With 0, it is not read. */
  readonly maxSize: number
  /**
   * The media types that a successful response can have, in lower case; `+json` stands for all that end with it (RFC 6839). Default:
   * any.
   */
  readonly accepts?: readonly string[] | undefined
  /** Epoch seconds. */
  readonly now: number
}

/**
 * Why there is no response. `uri_refused`: the URI is none that the provider calls. `address_refused`: its host has an
 * address that is not public. `busy`: too many requests are in progress, none was sent.
 */
export type FetchProblem =
  | 'uri_refused'
  | 'address_refused'
  | 'busy'
  | 'unreachable'
  | 'too_slow'
  | 'too_large'
  | 'type_refused'

/** A response. A redirect is one, too: it is not followed, because it could lead to any host. */
export interface IncomingResponse {
  readonly status: number
  readonly headers: Headers
  readonly body: string
  readonly problem?: undefined
}

/** A response, or why there is none. */
export type Fetched = IncomingResponse | { readonly problem: FetchProblem }

/** Sends a request. Never rejects. */
export type GuardedFetch = (url: string, request: OutgoingRequest) => Promise<Fetched>

export interface GuardedFetchOptions extends UriRules {
  /** Replaces the requests of the platform, and with them the check of addresses. */
  readonly send?: SendRequest | undefined
  /** The number of requests that are in progress, in all. Default: 128. */
  readonly maxRequests?: number | undefined
  /** The number of those to one host. Default: 16. */
  readonly maxRequestsPerHost?: number | undefined
}

/** Reads at most `maxSize` bytes of a body. Returns `undefined` for a longer one. */
async function readBody({ body }: Response, maxSize: number): Promise<string | undefined> {
  if (body === null) return ''
  if (maxSize === 0) {
    await body.cancel()
    return ''
  }
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  let size = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return text + decoder.decode()
    size += value.byteLength
    if (size > maxSize) {
      await reader.cancel()
      return undefined
    }
    text += decoder.decode(value, { stream: true })
  }
}

const mediaTypeOf = (headers: Headers): string =>
  (headers.get('content-type') ?? '').replace(/;.*$/su, '').trim().toLowerCase()

const isAccepted = (type: string, accepts: readonly string[]): boolean =>
  accepts.some((accepted) => type === accepted || (accepted.startsWith('+') && type.endsWith(accepted)))

async function load(send: SendRequest, url: string, request: OutgoingRequest, signal: AbortSignal): Promise<Fetched> {
  const { method = 'GET', headers = {}, body, maxSize, accepts } = request
  try {
    const init = { method, headers, ...(body !== undefined && { body }), redirect: 'manual', signal } as const
    const response = await send(url, init)
    if (response.ok && accepts !== undefined && !isAccepted(mediaTypeOf(response.headers), accepts)) {
      await response.body?.cancel()
      return { problem: 'type_refused' }
    }
    const text = await readBody(response, maxSize)
    return text === undefined
      ? { problem: 'too_large' }
      : { status: response.status, headers: response.headers, body: text }
  } catch (error) {
    return { problem: isAddressRefused(error) ? 'address_refused' : 'unreachable' }
  }
}

/**
 * Creates the function with which plugins send all requests to hosts that they do not choose: https, only public
 * addresses unless the rules allow others, no redirects, and limits of time, size and concurrent requests.
 *
 * @see docs/decisions/0096-addresses-of-fetched-hosts.md
 */
export function createGuardedFetch({
  send,
  maxRequests = 128,
  maxRequestsPerHost = 16,
  ...rules
}: GuardedFetchOptions): GuardedFetch {
  let chosen = send
  // Created with the first request: most providers send none.
  const transport: SendRequest = (url, init) => {
    chosen ??= rules.allowPrivateAddresses ? platformSend : createPublicSend()
    return chosen(url, init)
  }
  const bulkhead = createBulkhead({ all: maxRequests, perKey: maxRequestsPerHost })

  return async (url, request) => {
    if (fetchedUriProblem(url, rules) !== undefined) return { problem: 'uri_refused' }
    const leave = bulkhead.enter(parseUrl(url)?.host ?? '', request.now)
    if (leave === undefined) return { problem: 'busy' }
    const controller = new AbortController()
    const loading = load(transport, url, request, controller.signal)
    // A request that ignores the signal keeps its place until it ends.
    void loading.then(leave)
    let timer: ReturnType<typeof setTimeout> | undefined
    const late = new Promise<Fetched>((resolve) => {
      timer = setTimeout(() => {
        resolve({ problem: 'too_slow' })
        controller.abort(new DOMException('The host is too slow', 'TimeoutError'))
      }, request.timeout * 1000)
    })
    const fetched = await Promise.race([loading, late])
    clearTimeout(timer)
    return fetched
  }
}
