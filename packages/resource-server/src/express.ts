import { type NodeRequest, presentedOf } from './middleware/node-request.ts'
import { setToken } from './middleware/token-of.ts'
import { type Requirement, scopesOf } from './requirement.ts'
import type { ResourceServer } from './resource-server.ts'

export { tokenOf } from './middleware/token-of.ts'

/** The request of Express, or of another framework with middlewares of this form, such as Connect. */
export interface ExpressRequest extends NodeRequest {
  readonly originalUrl?: string
}

/** The part of `ServerResponse` of Node.js that is used. */
export interface ExpressResponse {
  statusCode: number
  setHeader(name: string, value: string): unknown
  end(body: string): unknown
}

/**
 * Returns a middleware for Express that passes on only requests with a valid token, which `tokenOf(req)` returns.
 *
 * @throws TypeError with one sentence for a mistake in the requirement
 * @example
 * app.get('/orders', requireToken(api, { scopes: 'orders:read' }), (req, res) => res.json(tokenOf(req).claims.sub))
 */
export function requireToken(api: ResourceServer, requirement: Requirement = {}) {
  scopesOf(requirement)

  async function check(req: ExpressRequest, res: ExpressResponse): Promise<boolean> {
    const { token, response } = await api.authorize(presentedOf(req, req.originalUrl ?? req.url, req), requirement)
    const headers = response === undefined ? Object.entries(token.headers) : response.headers
    for (const [name, value] of headers) res.setHeader(name, value)
    if (response === undefined) {
      setToken(req, token)
      return true
    }
    res.statusCode = response.status
    res.end(await response.text())
    return false
  }

  return (req: ExpressRequest, res: ExpressResponse, next: (error?: unknown) => void): void => {
    check(req, res).then((isAllowed) => (isAllowed ? next() : undefined), next)
  }
}
