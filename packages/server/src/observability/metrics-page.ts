import { isIP } from 'node:net'
import { type Handler, isLoopbackHost, pathOf } from '@grantry/core'
import { isForwarded, isLoopbackHeader, parseHost } from '../local-address.ts'
import type { Metrics } from './metrics.ts'

const noSniff = { 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' }

const notFound = (): Response =>
  Response.json(
    { error: 'invalid_request', error_description: 'There is no such endpoint' },
    { status: 404, headers: { ...noSniff, pragma: 'no-cache' } },
  )

/** Handles `GET /metrics`. It does not access the storage. */
export const metricsPage =
  (metrics: Metrics): Handler =>
  async ({ method }) => {
    if (method !== 'GET' && method !== 'HEAD')
      return new Response(null, { status: 405, headers: { ...noSniff, allow: 'GET, HEAD' } })
    const body = method === 'HEAD' ? null : await metrics.text()
    return new Response(body, { headers: { ...noSniff, 'content-type': metrics.contentType } })
  }

/** Restricts the page to callers on this machine that do not come through a proxy. All other callers get 404. */
export const localOnly =
  (page: Handler): Handler =>
  async (request, connection) => {
    const isLocalName = isLoopbackHeader(request.headers.get('host'))
    const isLocal = isLoopbackHost(connection?.clientAddress) && isLocalName && !isForwarded(request)
    return isLocal ? page(request, connection) : notFound()
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
    return pathOf(request.url) === '/metrics' ? page(request, connection) : notFound()
  }
}
