import type { Handler } from '@grantry/core'
import { refusalOf } from './admission.ts'
import { assertAwaited } from './awaited.ts'
import type { Servable } from './running-server.ts'

export interface FetchOptions {
  /** The caller's address, from a header that your platform sets itself (`cf-connecting-ip`), never from one that a caller can send. */
  readonly clientAddress?: (request: Request) => string | undefined
}

/**
 * A provider as a function from `Request` to `Response`, for every runtime and framework that speaks them: Workers, Hono, Elysia, SvelteKit, Next. It
 * answers every request; 404 for what is not the provider's.
 *
 * @example
 * // In a Worker: random values are for requests only, so the provider is made with the first of them.
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
  const { clientAddress } = options
  return async (request) => refusalOf(request) ?? provider.fetch(request, { clientAddress: clientAddress?.(request) })
}

/**
 * As `fetchHandler`, and `undefined` for a request that is not the provider's: for a middleware that goes on then.
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
