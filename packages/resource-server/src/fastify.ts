import { type NodeRequest, presentedOf } from './middleware/node-request.ts'
import { setToken } from './middleware/token-of.ts'
import { type Requirement, scopesOf } from './requirement.ts'
import type { ResourceServer } from './resource-server.ts'

export { tokenOf } from './middleware/token-of.ts'

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

/**
 * Returns a hook for Fastify (`onRequest`) that passes on only requests with a valid token, which `tokenOf(request)`
 * returns.
 *
 * @throws TypeError with one sentence for a mistake in the requirement
 * @example
 * app.get('/orders', { onRequest: requireToken(api, { scopes: 'orders:read' }) }, async (request) => tokenOf(request))
 */
export function requireToken(api: ResourceServer, requirement: Requirement = {}) {
  scopesOf(requirement)
  return async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    const presented = presentedOf(request.raw, request.originalUrl, request)
    const { token, response } = await api.authorize(presented, requirement)
    const headers = response === undefined ? Object.entries(token.headers) : response.headers
    for (const [name, value] of headers) reply.header(name, value)
    if (response === undefined) {
      setToken(request, token)
      return undefined
    }
    reply.code(response.status)
    // The result ends the request: Fastify requires that an async hook returns the reply that it has sent.
    return reply.send(await response.text())
  }
}
