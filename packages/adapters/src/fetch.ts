import type { ClientCertificate, Handler } from '@grantry/core'
import { checkRequest } from './check-request.ts'
import { assertAwaited, type Servable } from './servable.ts'

/** Options of `fetchHandler` and `fetchMiddleware`. */
export interface FetchOptions {
  /**
   * Returns the client's address from a header that your platform sets (`cf-connecting-ip`). Never use a header that a
   * client can send.
   */
  readonly clientAddress?: ((request: Request) => string | undefined) | undefined
  /** Returns the certificate of the client from what your platform knows about the connection. */
  readonly clientCertificate?: ((request: Request) => ClientCertificate | undefined) | undefined
}

/**
 * Returns a function from `Request` to `Response`, for every runtime and framework based on the Fetch API: Workers,
 * Hono, Elysia, SvelteKit, Next. A request that matches no endpoint of the provider gets 404.
 *
 * @example
 * // A Worker can generate random values only inside a request, so the first request creates the provider.
 * let handler: Promise<(request: Request) => Promise<Response>> | undefined
 * const clientAddress = (request: Request) => request.headers.get('cf-connecting-ip') ?? undefined
 * export default {
 *   async fetch(request: Request) {
 *     handler ??= createProvider(options).then((provider) => fetchHandler(provider, { clientAddress }))
 *     return (await handler)(request)
 *   },
 * }
 */
export function fetchHandler(provider: Servable, options: FetchOptions = {}): (request: Request) => Promise<Response> {
  assertAwaited(provider)
  const { clientAddress, clientCertificate } = options
  return async (request) =>
    checkRequest(request) ??
    provider.fetch(request, {
      clientAddress: clientAddress?.(request),
      clientCertificate: clientCertificate?.(request),
    })
}

/**
 * Like `fetchHandler`, but returns `undefined` for a request that matches no endpoint of the provider, so a middleware
 * can call the next handler.
 *
 * @example
 * const oauth = fetchMiddleware(provider)
 * app.use(async (c, next) => (await oauth(c.req.raw)) ?? next())
 */
export function fetchMiddleware(
  provider: { route(request: Request): Handler | undefined },
  options: FetchOptions = {},
): (request: Request) => Promise<Response> | undefined {
  assertAwaited(provider)
  return (request) => {
    const handler = provider.route(request)
    return handler && fetchHandler({ fetch: handler }, options)(request)
  }
}
