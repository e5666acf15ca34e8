import { type NodeRequest, presentedOf } from './middleware/node-request.ts'
import { outcomeOf } from './middleware/outcome-of.ts'
import { setToken } from './middleware/token-of.ts'
import { type Requirement, requirementOf } from './requirement.ts'
import type { ResourceServer } from './resource-server.ts'

export { tokenOf } from './middleware/token-of.ts'

/** The part of the context of Koa that is used. */
export interface KoaContext {
  readonly req: NodeRequest
  readonly originalUrl: string
  status: number
  body: unknown
  set(name: string, value: string): unknown
}

/**
 * Returns a middleware for Koa that passes on only requests with a valid token, which `tokenOf(ctx)` returns. It serves
 * the metadata document, if `api` has one and the request is for it.
 *
 * @throws TypeError with one sentence for a mistake in the requirement
 * @example
 * router.get('/orders', requireToken(api, { scopes: 'orders:read' }), (ctx) => { ctx.body = tokenOf(ctx).claims.sub })
 */
export function requireToken(api: ResourceServer, requirement: Requirement = {}) {
  requirementOf(requirement)
  return async (ctx: KoaContext, next: () => Promise<unknown>): Promise<void> => {
    const { token, response } = await outcomeOf(api, presentedOf(ctx.req, ctx.originalUrl, ctx), requirement)
    if (response === undefined) {
      setToken(ctx, token)
      for (const [name, value] of Object.entries(token.headers)) ctx.set(name, value)
      await next()
      return
    }
    ctx.status = response.status
    ctx.body = await response.text()
    // Last: a body sets a type of its own.
    for (const [name, value] of response.headers) ctx.set(name, value)
  }
}
