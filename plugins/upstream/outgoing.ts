import { parseExactJson } from '@grantry/core'
import { createGuardedFetch, type Fetched, type GuardedFetch } from '../shared/guarded-fetch.ts'
import { fetchError } from './failure.ts'
import type { Provider, Settings } from './upstream-options.ts'

/** The function that the library calls for its requests. */
export type LibraryFetch = (
  url: string,
  init: { readonly method: string; readonly headers: HeadersInit; readonly body?: unknown },
) => Promise<Response>

/** Requests to one provider, which have the limits of all requests to other hosts. */
export interface Outgoing {
  readonly send: GuardedFetch
  get(url: string, headers: Readonly<Record<string, string>>, now: number): Promise<Fetched>
  /** @param now epoch seconds */
  forLibrary(now: () => number): LibraryFetch
}

const textOf = (body: unknown): string | undefined => {
  if (body === undefined || body === null) return undefined
  if (typeof body === 'string' || body instanceof URLSearchParams) return String(body)
  throw new TypeError('The body of a request must be a text')
}

/** Returns JSON whose numbers no parser rounds: those that JSON does not keep exactly are texts. */
function withExactNumbers(body: string): string {
  // No other number is inexact.
  if (!/\d{16}|\d[eE]/u.test(body)) return body
  try {
    return JSON.stringify(parseExactJson(body))
  } catch {
    // Not JSON, such as a JWT.
    return body
  }
}

/**
 * Creates the requests to a provider, with places of its own: a provider that hangs uses up no place of another one.
 */
export function createOutgoing(
  { allowPrivateAddresses }: Provider,
  { timeout, maxSize, maxRequests, fetch }: Settings,
): Outgoing {
  const send = createGuardedFetch({
    allowPrivateAddresses,
    allowLoopbackHttp: true,
    send: fetch,
    maxRequests,
    maxRequestsPerHost: maxRequests,
  })
  return {
    send,
    get: (url, headers, now) => send(url, { headers, timeout, maxSize, now }),
    forLibrary:
      (now) =>
      async (url, { method, headers, body }) => {
        const content = textOf(body)
        const fetched = await send(url, {
          method: method === 'POST' ? 'POST' : 'GET',
          headers: Object.fromEntries(new Headers(headers)),
          ...(content !== undefined && { body: content }),
          timeout,
          maxSize,
          now: now(),
        })
        if (fetched.problem !== undefined) throw fetchError(fetched.problem)
        const { status, headers: received } = fetched
        return new Response(fetched.body === '' ? null : withExactNumbers(fetched.body), { status, headers: received })
      },
  }
}
