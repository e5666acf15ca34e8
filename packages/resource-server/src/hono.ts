import { createMcpCheck, type McpAuthOptions } from './mcp-check.ts'
import { outcomeOf } from './middleware/outcome-of.ts'
import { setAuthInfo, setToken } from './middleware/token-of.ts'
import type { PresentedRequest } from './presented-request.ts'
import { type Requirement, requirementOf } from './requirement.ts'
import type { ResourceServer } from './resource-server.ts'

export { authInfoOf, tokenOf } from './middleware/token-of.ts'

/** The part of the context of Hono that is used. */
export interface HonoContext {
  readonly req: { readonly raw: Request }
  header(name: string, value: string): void
}

function presentedBy(c: HonoContext): PresentedRequest {
  const { method, url, headers } = c.req.raw
  return { method, url, headers, source: c, identity: c }
}

/** After the handler, which can return a response of its own. */
function setHeaders(c: HonoContext, headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) c.header(name, value)
}

/**
 * Returns a middleware for Hono that passes on only requests with a valid token, which `tokenOf(c)` returns. It serves
 * the metadata document, if `api` has one and the request is for it.
 *
 * @throws TypeError with one sentence for a mistake in the requirement
 * @example
 * app.get('/orders', requireToken(api, { scopes: 'orders:read' }), (c) => c.json(tokenOf(c).claims.sub))
 */
export function requireToken(api: ResourceServer, requirement: Requirement = {}) {
  requirementOf(requirement)
  return async (c: HonoContext, next: () => Promise<void>): Promise<Response | undefined> => {
    const { token, response } = await outcomeOf(api, presentedBy(c), requirement)
    if (response !== undefined) return response
    setToken(c, token)
    await next()
    setHeaders(c, token.headers)
    return undefined
  }
}

/**
 * Returns a middleware for Hono in front of an MCP server. It serves the metadata document of the server, answers
 * preflights, and passes on only requests with a valid token, whatever their path is. `authInfoOf(c)` returns the token
 * as the MCP SDKs expect it.
 *
 * @throws TypeError with one sentence for a mistake in the options
 * @example
 * app.use(mcpAuth({ issuer, resource: 'https://api.example.com/mcp', scopes: 'mcp:tools' }))
 * app.all('/mcp', (c) => handler.fetch(c.req.raw, { authInfo: authInfoOf(c) }))
 */
export function mcpAuth(options: McpAuthOptions) {
  const decide = createMcpCheck(options)
  return async (c: HonoContext, next: () => Promise<void>): Promise<Response | undefined> => {
    const outcome = await decide(presentedBy(c))
    if (outcome.response !== undefined) return outcome.response
    setToken(c, outcome.token)
    setAuthInfo(c, outcome.authInfo)
    await next()
    setHeaders(c, outcome.headers)
    return undefined
  }
}
