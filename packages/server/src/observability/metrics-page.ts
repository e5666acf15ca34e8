import { isIP } from 'node:net'
import { type Handler, pathOf } from '@grantry/core'
import { parseHost } from '../host-header.ts'
import { isForwarded, isLoopbackAddress } from '../local-caller.ts'
import type { Metrics } from './metrics.ts'

const noSniff = { 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' }

const notFound = (): Response =>
  Response.json(
    { error: 'invalid_request', error_description: 'There is no such endpoint' },
    { status: 404, headers: { ...noSniff, pragma: 'no-cache' } },
  )

// A page whose name was pointed at this machine after it was loaded (DNS rebinding) comes from here, under a name of its own; and so does what a
// proxy passes on with the `Host` of its callers and no other header.
const localName = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::\d+)?$/iu

/** `GET /metrics`. It asks nothing of the storage. */
export const metricsPage =
  (metrics: Metrics): Handler =>
  async ({ method }) => {
    if (method !== 'GET' && method !== 'HEAD')
      return new Response(null, { status: 405, headers: { ...noSniff, allow: 'GET, HEAD' } })
    const body = method === 'HEAD' ? null : await metrics.text()
    return new Response(body, { headers: { ...noSniff, 'content-type': metrics.contentType } })
  }

/** The same beside the public endpoints: only for who asks from this machine and not through a proxy. Anybody else sees nothing there. */
export const localOnly =
  (page: Handler): Handler =>
  async (request, connection) => {
    const meant = localName.test(request.headers.get('host') ?? '')
    const isLocal = isLoopbackAddress(connection?.clientAddress) && meant && !isForwarded(request)
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
 * The handler of a metrics listener of its own. It checks `Host` first: DNS rebinding points the name of an attacker's page at this address, and the
 * page then reads what its browser can reach. A page cannot have an IP address or `localhost` as its origin unless it comes from there.
 */
export function metricsListener(page: Handler, host: string, allowedHosts: readonly string[]): Handler {
  const names = new Set(['localhost', host, ...allowedHosts].map((name) => name.toLowerCase()))
  return async (request, connection) => {
    const hostname = parseHost(request.headers.get('host'))?.hostname
    const isAllowed = hostname !== undefined && (isIP(hostname.replace(/^\[|\]$/gu, '')) !== 0 || names.has(hostname))
    if (!isAllowed) return misdirected()
    return pathOf(request.url) === '/metrics' ? page(request, connection) : notFound()
  }
}
