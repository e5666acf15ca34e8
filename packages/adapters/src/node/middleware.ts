import type { IncomingMessage, ServerResponse } from 'node:http'
import { createBridge, type NodeOptions, type Servable } from './listener.ts'

/** The part of a provider that a middleware uses. */
export type Mountable = Servable & { route(request: Request): Servable['fetch'] | undefined }

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
  const { requestOf, answer } = createBridge(provider, options)
  return (req, res, next) => {
    const request = requestOf(req, res)
    const handler = request && provider.route(request as unknown as Request)
    if (handler === undefined) next()
    else if (req.method === 'POST' && req.readableDidRead) next(bodyIsGone())
    else answer(request, req, res, handler)
  }
}

/** The part of Koa's context that is used here. */
interface KoaContext {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  /** `false` keeps Koa from sending the response. */
  respond?: boolean
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
      const left = context.respond
      context.respond = false
      res.once('close', resolve)
      middleware(context.req, res, (error) => {
        res.off('close', resolve)
        if (left === undefined) delete context.respond
        else context.respond = left
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
  const { requestOf, answer } = createBridge(provider, options)
  return ({ raw: req }, reply, done) => {
    const request = requestOf(req, reply.raw)
    const handler = request && provider.route(request as unknown as Request)
    if (handler === undefined) return done()
    reply.hijack()
    answer(request, req, reply.raw, handler)
  }
}
