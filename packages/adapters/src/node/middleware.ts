import type { IncomingMessage, ServerResponse } from 'node:http'
import { createBridge, type NodeOptions, type Servable } from './listener.ts'

/** What a middleware needs of a provider. */
export type Mountable = Servable & { route(request: Request): Servable['fetch'] | undefined }

/** The middleware of Express and Connect. */
export type Middleware = (req: IncomingMessage, res: ServerResponse, next: (error?: unknown) => void) => void

const bodyIsGone = (): Error =>
  new Error('The body was read before the provider saw it: mount the provider before every body parser')

/**
 * A provider as a middleware of Express or Connect. What is not the provider's goes on to `next()`, and so does a mistake of the host:
 * a body that a parser has read already.
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

/** What of Koa's context is needed. */
interface KoaContext {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  /** `false`: Koa leaves the response alone. */
  respond?: boolean
}

/**
 * A provider as a middleware of Koa.
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
 * A provider as an `onRequest` hook of Fastify, which runs before Fastify reads a body.
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
