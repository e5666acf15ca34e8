import { isIP } from 'node:net'
import { type Handler, htmlHeaders, isLoopbackHost, isNavigation, pathOf } from '@grantry/core'
import { isForwarded, isLoopbackHeader, parseHost } from '../local-address.ts'
import type { Metrics } from './metrics.ts'

const noSniff = { 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' }

const notFoundPage = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><meta name="robots" content="noindex"><title>Page not found</title></head>
<body><main><h1>Page not found</h1><p>This port has only <a href="/metrics">/metrics</a>.</p></main></body></html>
`

/** Refuses all other paths of the separate listener, as the provider does. */
function notFound(request: Request): Response {
  if (isNavigation(request)) {
    const body = request.method === 'HEAD' ? null : notFoundPage
    return new Response(body, { status: 404, headers: htmlHeaders({}, 'http://localhost') })
  }
  return Response.json(
    { error: 'invalid_request', error_description: 'There is no such endpoint' },
    { status: 404, headers: { ...noSniff, pragma: 'no-cache' } },
  )
}

/** Handles `GET /metrics`. It does not access the storage. */
export const metricsPage =
  (metrics: Metrics): Handler =>
  async ({ method }) => {
    if (method !== 'GET' && method !== 'HEAD')
      return new Response(null, { status: 405, headers: { ...noSniff, allow: 'GET, HEAD' } })
    const body = method === 'HEAD' ? null : await metrics.text()
    return new Response(body, { headers: { ...noSniff, 'content-type': metrics.contentType } })
  }

/**
 * Restricts the page to callers on this machine that do not come through a proxy.
 *
 * @param notFound refuses all other callers, as it does for a path that does not exist
 */
export const localOnly =
  (page: Handler, notFound: Handler): Handler =>
  (request, connection) => {
    const isLocalName = isLoopbackHeader(request.headers.get('host'))
    const isLocal = isLoopbackHost(connection?.clientAddress) && isLocalName && !isForwarded(request)
    return (isLocal ? page : notFound)(request, connection)
  }

const misdirected = (): Response =>
  new Response(
    'This listener does not serve this host name. Use its IP address, or add the name to metrics.allowedHosts.\n',
    {
      status: 421,
      headers: { ...noSniff, 'content-type': 'text/plain; charset=utf-8' },
    },
  )

/**
 * Handles requests to a separate metrics listener. It checks `Host` first: with DNS rebinding, an attacker's page points
 * its own host name at this address and reads what the browser can reach. The origin of such a page is never an IP
 * address or `localhost`.
 */
export function metricsListener(page: Handler, host: string, allowedHosts: readonly string[]): Handler {
  const names = new Set([host, ...allowedHosts].map((name) => name.toLowerCase()))
  return async (request, connection) => {
    const hostname = parseHost(request.headers.get('host'))?.hostname
    const isAllowed =
      hostname !== undefined &&
      (isIP(hostname.replace(/^\[|\]$/gu, '')) !== 0 || isLoopbackHost(hostname) || names.has(hostname))
    if (!isAllowed) return misdirected()
    return pathOf(request.url) === '/metrics' ? page(request, connection) : notFound(request)
  }
}
