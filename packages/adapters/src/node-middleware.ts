import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ConnectionInfo, Handler } from '@grantry/core'
import { type Bridge, type BridgeOptions, createBridge, type Listener } from './http-bridge/index.ts'
import { assertAwaited, type Servable as CommonServable } from './servable.ts'

export type NodeOptions = BridgeOptions

/** The part of a provider that a server on Node.js uses. Request URLs have the issuer's origin, whatever `Host` says. */
export interface Servable extends CommonServable {
  readonly issuer: string
}

/** Returns the origin of the issuer. @throws TypeError when the provider was not awaited. */
export function originOf(provider: Pick<Servable, 'issuer'>): string {
  assertAwaited(provider)
  return new URL(provider.issuer).origin
}

const bridgeOf = (provider: Pick<Servable, 'issuer'>, options: NodeOptions): Bridge =>
  createBridge(originOf(provider), options)

/**
 * Returns a request listener for `node:http`, `node:https` or `node:http2`. The provider handles every request; an
 * unknown path gets 404. Set the server's `requestTimeout`: the listener does not time out slow bodies.
 *
 * @throws TypeError when `maxRequests` or `maxBodies` is not a whole number of at least 1, or the provider was not
 * awaited.
 * @example
 * createServer({ requestTimeout: 30_000 }, nodeListener(provider)).listen(8484)
 */
export function nodeListener(provider: Servable, options: NodeOptions = {}): Listener {
  return bridgeOf(provider, options).listener(provider.fetch)
}

/** The part of a provider that a middleware uses. */
export type Mountable = Servable & { route(request: Request): Handler | undefined }

/** A middleware of Express or Connect. */
export type Middleware = (req: IncomingMessage, res: ServerResponse, next: (error?: unknown) => void) => void

const bodyIsGone = (): Error =>
  new Error('The request body was already read; mount the provider before any body parser')

/**
 * Returns a middleware for Express or Connect. Calls `next()` for a request that matches no endpoint of the provider,
 * and `next(error)` when a body parser has already read the body.
 *
 * @example
 * app.use(nodeMiddleware(provider))
 */
export function nodeMiddleware(provider: Mountable, options: NodeOptions = {}): Middleware {
  const { requestOf, respond } = bridgeOf(provider, options)
  return (req, res, next) => {
    const request = requestOf(req, res)
    const handler = request && provider.route(request as unknown as Request)
    if (handler === undefined) next()
    else if (req.method === 'POST' && req.readableDidRead) next(bodyIsGone())
    else respond(request, req, res, handler)
  }
}

/** The second argument of a page of the host, after the `Request`. */
export interface NodeConnection extends ConnectionInfo {
  /** The request of the framework, with the members that its middleware has added, such as a session. */
  readonly req: IncomingMessage
  readonly res: ServerResponse
}

/**
 * Returns a route handler of Express, Connect or `node:http` for a page of the host, such as a login page: it receives a
 * `Request`, and its `Response` is sent. A page that writes to `res` itself, such as with `res.render()`, returns
 * `undefined`. Mount it before any body parser if it reads the body of the `Request`.
 *
 * @example
 * app.get('/login', nodeRoute(provider, (request) => authorize(provider, request)))
 */
export function nodeRoute<Req extends IncomingMessage = IncomingMessage, Res extends ServerResponse = ServerResponse>(
  provider: Pick<Servable, 'issuer'>,
  page: (
    request: Request,
    connection: Omit<NodeConnection, 'req' | 'res'> & { readonly req: Req; readonly res: Res },
  ) => Promise<Response | undefined>,
  options: NodeOptions = {},
): (req: Req, res: Res, next?: (error?: unknown) => void) => void {
  const { requestOf, respond } = bridgeOf(provider, options)
  return (req, res, next) => {
    respond(requestOf(req, res), req, res, (request, connection) =>
      page(request, { ...connection, req, res }).catch((error: unknown) => {
        if (next === undefined) throw error
        next(error)
        return undefined
      }),
    )
  }
}

/** The part of Koa's context that is used here. */
interface KoaContext {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  /** `false` keeps Koa from sending the response. */
  respond?: boolean | undefined
}

/**
 * Returns a middleware for Koa. Calls `next()` for a request that matches no endpoint of the provider.
 *
 * @example
 * app.use(koaMiddleware(provider))
 */
export function koaMiddleware(
  provider: Mountable,
  options: NodeOptions = {},
): (context: KoaContext, next: () => Promise<unknown>) => Promise<void> {
  const middleware = nodeMiddleware(provider, options)
  return (context, next) =>
    new Promise((resolve, reject) => {
      const { res } = context
      const originalRespond = context.respond
      context.respond = false
      res.once('close', resolve)
      middleware(context.req, res, (error) => {
        res.off('close', resolve)
        if (originalRespond === undefined) delete context.respond
        else context.respond = originalRespond
        if (error === undefined) next().then(() => resolve(), reject)
        else reject(error)
      })
    })
}

interface FastifyRequest {
  readonly raw: IncomingMessage
}

interface FastifyReply {
  readonly raw: ServerResponse
  hijack(): unknown
}

/**
 * Returns an `onRequest` hook for Fastify, which runs before Fastify reads the body.
 *
 * @example
 * fastify.addHook('onRequest', fastifyHook(provider))
 */
export function fastifyHook(
  provider: Mountable,
  options: NodeOptions = {},
): (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void) => void {
  const { requestOf, respond } = bridgeOf(provider, options)
  return ({ raw: req }, reply, done) => {
    const request = requestOf(req, reply.raw)
    const handler = request && provider.route(request as unknown as Request)
    if (handler === undefined) return done()
    reply.hijack()
    respond(request, req, reply.raw, handler)
  }
}
