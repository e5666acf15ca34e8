import { createMcpCheck, type McpAuthOptions } from './mcp-check.ts'
import { type NodeRequest, presentedOf } from './middleware/node-request.ts'
import { outcomeOf } from './middleware/outcome-of.ts'
import { setAuthInfo, setToken } from './middleware/token-of.ts'
import { type Requirement, requirementOf } from './requirement.ts'
import type { ResourceServer } from './resource-server.ts'

export { authInfoOf, tokenOf } from './middleware/token-of.ts'

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

type Next = (error?: unknown) => void
type Headers = Iterable<readonly [string, string]>

function setHeaders(res: ExpressResponse, headers: Headers): void {
  for (const [name, value] of headers) res.setHeader(name, value)
}

async function respond(res: ExpressResponse, response: Response): Promise<void> {
  setHeaders(res, response.headers)
  res.statusCode = response.status
  res.end(await response.text())
}

const presentedBy = (req: ExpressRequest) => presentedOf(req, req.originalUrl ?? req.url, req)

/**
 * Returns a middleware for Express that passes on only requests with a valid token, which `tokenOf(req)` returns. It
 * serves the metadata document, if `api` has one and the request is for it.
 *
 * @throws TypeError with one sentence for a mistake in the requirement
 * @example
 * app.get('/orders', requireToken(api, { scopes: 'orders:read' }), (req, res) => res.json(tokenOf(req).claims.sub))
 */
export function requireToken(api: ResourceServer, requirement: Requirement = {}) {
  requirementOf(requirement)

  async function check(req: ExpressRequest, res: ExpressResponse): Promise<boolean> {
    const { token, response } = await outcomeOf(api, presentedBy(req), requirement)
    if (response !== undefined) {
      await respond(res, response)
      return false
    }
    setHeaders(res, Object.entries(token.headers))
    setToken(req, token)
    return true
  }

  return (req: ExpressRequest, res: ExpressResponse, next: Next): void => {
    check(req, res).then((isAllowed) => (isAllowed ? next() : undefined), next)
  }
}

/**
 * Returns a middleware for Express in front of an MCP server. It serves the metadata document of the server, answers
 * preflights, and passes on only requests with a valid token, whatever their path is. `req.auth` is the token as the MCP
 * SDKs expect it; `tokenOf(req)` returns it, too.
 *
 * @throws TypeError with one sentence for a mistake in the options
 * @example
 * app.use(['/.well-known', '/mcp'], mcpAuth({ issuer, resource: 'https://api.example.com/mcp', scopes: 'mcp:tools' }))
 */
export function mcpAuth(options: McpAuthOptions) {
  const decide = createMcpCheck(options)

  async function check(req: ExpressRequest & { auth?: unknown }, res: ExpressResponse): Promise<boolean> {
    const outcome = await decide(presentedBy(req))
    if (outcome.response !== undefined) {
      await respond(res, outcome.response)
      return false
    }
    setHeaders(res, Object.entries(outcome.headers))
    setToken(req, outcome.token)
    setAuthInfo(req, outcome.authInfo)
    req.auth = outcome.authInfo
    return true
  }

  return (req: ExpressRequest, res: ExpressResponse, next: Next): void => {
    check(req, res).then((isAllowed) => (isAllowed ? next() : undefined), next)
  }
}
