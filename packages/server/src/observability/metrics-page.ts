import type { Handler } from '@grantry/core'
import type { Metrics } from './metrics.ts'

const noSniff = { 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' }

const notFound = (): Response =>
  Response.json(
    { error: 'invalid_request', error_description: 'There is no such endpoint' },
    { status: 404, headers: { ...noSniff, pragma: 'no-cache' } },
  )

const isLoopback = (address: string | undefined): boolean =>
  address === '::1' || /^(?:::ffff:)?127\.\d+\.\d+\.\d+$/u.test(address ?? '')

// A proxy on this machine is loopback, and speaks for strangers.
const proxyHeaders = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via'] as const

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
    const forwarded = proxyHeaders.some((name) => request.headers.has(name))
    const meant = localName.test(request.headers.get('host') ?? '')
    return isLoopback(connection?.clientAddress) && meant && !forwarded ? page(request, connection) : notFound()
  }

/** A door of its own for scrapers: nothing but the page. */
export const metricsDoor =
  (page: Handler): Handler =>
  async (request, connection) =>
    new URL(request.url).pathname === '/metrics' ? page(request, connection) : notFound()
