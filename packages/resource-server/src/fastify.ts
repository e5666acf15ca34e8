import { createMcpCheck, type McpAuthOptions } from './mcp-check.ts'
import { type NodeRequest, presentedOf } from './middleware/node-request.ts'
import { outcomeOf } from './middleware/outcome-of.ts'
import { setAuthInfo, setToken } from './middleware/token-of.ts'
import { type Requirement, requirementOf } from './requirement.ts'
import type { ResourceServer } from './resource-server.ts'

export { authInfoOf, tokenOf } from './middleware/token-of.ts'

/** The part of the request of Fastify that is read. */
export interface FastifyRequest {
  readonly raw: NodeRequest
  readonly originalUrl: string
}

/** The part of the reply of Fastify that is used. */
export interface FastifyReply {
  code(status: number): unknown
  header(name: string, value: string): unknown
  send(body: string): unknown
}

/** The same, with the response of Node.js. */
export interface FastifyRawReply extends FastifyReply {
  readonly raw: { setHeader(name: string, value: string): unknown }
}

const presentedBy = (request: FastifyRequest) => presentedOf(request.raw, request.originalUrl, request)

function setHeaders(reply: FastifyReply, headers: Iterable<readonly [string, string]>): void {
  for (const [name, value] of headers) reply.header(name, value)
}

/** The result ends the request: Fastify requires that an async hook returns the reply that it has sent. */
async function respond(reply: FastifyReply, response: Response): Promise<unknown> {
  setHeaders(reply, response.headers)
  reply.code(response.status)
  return reply.send(await response.text())
}

/**
 * Returns a hook for Fastify (`onRequest`) that passes on only requests with a valid token, which `tokenOf(request)`
 * returns. It serves the metadata document, if `api` has one and the request is for it.
 *
 * @throws TypeError with one sentence for a mistake in the requirement
 * @example
 * app.get('/orders', { onRequest: requireToken(api, { scopes: 'orders:read' }) }, async (request) => tokenOf(request))
 */
export function requireToken(api: ResourceServer, requirement: Requirement = {}) {
  requirementOf(requirement)
  return async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    const { token, response } = await outcomeOf(api, presentedBy(request), requirement)
    if (response !== undefined) return respond(reply, response)
    setHeaders(reply, Object.entries(token.headers))
    setToken(request, token)
    return undefined
  }
}

/**
 * Returns a hook for Fastify (`onRequest`) in front of an MCP server. It serves the metadata document of the server,
 * answers preflights, and passes on only requests with a valid token, whatever their path is. `request.raw.auth` is the
 * token as the MCP SDKs expect it; `authInfoOf(request)` returns it, too.
 *
 * @throws TypeError with one sentence for a mistake in the options
 * @example
 * app.addHook('onRequest', mcpAuth({ issuer, resource: 'https://api.example.com/mcp', scopes: 'mcp:tools' }))
 */
export function mcpAuth(options: McpAuthOptions) {
  const decide = createMcpCheck(options)
  return async (request: FastifyRequest, reply: FastifyRawReply): Promise<unknown> => {
    const outcome = await decide(presentedBy(request))
    if (outcome.response !== undefined) return respond(reply, outcome.response)
    const { token, authInfo, headers } = outcome
    const raw: NodeRequest & { auth?: unknown } = request.raw
    raw.auth = authInfo
    // Not to the reply: transports of the MCP SDKs write to the response of Node.js, which lacks its headers.
    for (const [name, value] of Object.entries(headers)) reply.raw.setHeader(name, value)
    setToken(request, token)
    setAuthInfo(request, authInfo)
    return undefined
  }
}
