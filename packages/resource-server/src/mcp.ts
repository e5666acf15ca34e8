import type { AuthInfo } from './auth-info.ts'
import { createMcpCheck, type McpAuthOptions } from './mcp-check.ts'
import { withHeaders } from './response.ts'

export type { McpAuthOptions } from './mcp-check.ts'

/** Handles a request to an MCP server: `handler.fetch` of `createMcpHandler()`, or a function that calls a transport. */
export type McpHandler = (request: Request, options: { readonly authInfo: AuthInfo }) => Response | Promise<Response>

/**
 * Returns a Fetch handler in front of an MCP server: it serves the metadata document of the server, answers preflights, and
 * calls yours only with a valid token, whatever the path of the request is.
 *
 * @throws TypeError with one sentence for a mistake in the options
 * @example
 * const { fetch } = createMcpHandler(createServer)
 * export default { fetch: mcpAuth({ issuer, resource: 'https://api.example.com/mcp', scopes: 'mcp:tools' }, fetch) }
 */
export function mcpAuth(options: McpAuthOptions, handler: McpHandler): (request: Request) => Promise<Response> {
  const check = createMcpCheck(options)
  return async (request) => {
    const outcome = await check(request)
    if (outcome.response !== undefined) return outcome.response
    return withHeaders(await handler(request, { authInfo: outcome.authInfo }), outcome.headers)
  }
}
