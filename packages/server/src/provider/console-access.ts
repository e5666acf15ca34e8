import { type ConnectionInfo, isLoopbackHost } from '@grantry/core'
import type { ConsoleOptions } from '../configuration/console.ts'
import { isForwarded, parseHost } from '../local-address.ts'

const refuse = (sentence: string, status = 403, more: Readonly<Record<string, string>> = {}): Response =>
  new Response(`${sentence}\n`, {
    status,
    headers: { 'content-type': 'text/plain; charset=utf-8', ...more },
  })

const foreignSite = 'The console cannot be opened from another site. Type its address into the browser.'

/** Whether the browser reports that a page of another site sent the request. Such a page must not load the console. */
function isCrossSite({ headers }: Request, host: string): boolean {
  const site = headers.get('sec-fetch-site')
  if (site !== null && site !== 'same-origin' && site !== 'none') return true
  const origin = headers.get('origin')
  return origin !== null && (!URL.canParse(origin) || new URL(origin).host !== host)
}

/**
 * Returns a refusal if the request must not access the console, otherwise `undefined`. The client address keeps other
 * machines out. The `Host` header keeps out DNS rebinding: the request then comes from this machine, but under the host
 * name of the attacker.
 */
export function accessRefusal(
  request: Request,
  connection: ConnectionInfo | undefined,
  { remote, issuer }: ConsoleOptions & { readonly issuer: string },
): Response | undefined {
  if (request.method !== 'GET') return refuse('Send a GET request.', 405, { allow: 'GET' })
  const host = parseHost(request.headers.get('host'))
  const isOwnName = host !== undefined && (isLoopbackHost(host.hostname) || (remote && isHostOf(issuer, host)))
  if (!isOwnName) {
    return refuse('The console is not available under this host name. Open it as 127.0.0.1, or set console.remote.')
  }
  if (!remote && !isLoopbackHost(connection?.clientAddress)) {
    return refuse('The console is only available from this machine. Use a tunnel, or set console.remote.')
  }
  if (!remote && isForwarded(request)) {
    return refuse('The console is not available through a proxy. Use a tunnel, or set console.remote.')
  }
  return isCrossSite(request, host.host) ? refuse(foreignSite) : undefined
}

/** Compares the host names only, because a proxy can listen on another port. */
const isHostOf = (issuer: string, host: URL): boolean => new URL(issuer).hostname === host.hostname
