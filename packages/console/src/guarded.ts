import type { ConnectionInfo, Handler } from '@grantry/core'
import { consoleHeaders } from './headers.ts'

/**
 * Returns the refusal for a caller who must not open the pages, otherwise `undefined`. The server decides: it knows
 * whether a proxy is in front of it.
 */
export type RefuseCaller = (request: Request, connection: ConnectionInfo | undefined) => Response | undefined

/** Returns a handler that asks first whether the caller may open it. A refusal gets the headers of the pages too. */
export function guarded(
  refuse: RefuseCaller,
  make: (request: Request, connection: ConnectionInfo | undefined) => Response | Promise<Response>,
): Handler {
  // Without the check, each page would be open to all callers.
  if (typeof refuse !== 'function') throw new TypeError('refuse must be a function that returns a refusal or undefined')
  return async (request, connection) => {
    const refusal = refuse(request, connection)
    if (refusal === undefined) return make(request, connection)
    return withHeaders(refusal)
  }
}

/** Returns a refusal with the headers of the pages. */
export function withHeaders({ status, headers, body }: Response): Response {
  return new Response(body, { status, headers: { ...Object.fromEntries(headers), ...consoleHeaders } })
}
