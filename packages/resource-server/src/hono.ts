import { setToken } from './middleware/token-of.ts'
import { type Requirement, scopesOf } from './requirement.ts'
import type { ResourceServer } from './resource-server.ts'

export { tokenOf } from './middleware/token-of.ts'

/** The part of the context of Hono that is used. */
export interface HonoContext {
  readonly req: { readonly raw: Request }
  header(name: string, value: string): void
}

/**
 * Returns a middleware for Hono that passes on only requests with a valid token, which `tokenOf(c)` returns.
 *
 * @throws TypeError with one sentence for a mistake in the requirement
 * @example
 * app.get('/orders', requireToken(api, { scopes: 'orders:read' }), (c) => c.json(tokenOf(c).claims.sub))
 */
export function requireToken(api: ResourceServer, requirement: Requirement = {}) {
  scopesOf(requirement)
  return async (c: HonoContext, next: () => Promise<void>): Promise<Response | undefined> => {
    const { method, url, headers } = c.req.raw
    const { token, response } = await api.authorize({ method, url, headers, source: c, identity: c }, requirement)
    if (response !== undefined) return response
    setToken(c, token)
    await next()
    // After the handler, which can return a response of its own.
    for (const [name, value] of Object.entries(token.headers)) c.header(name, value)
    return undefined
  }
}
