import { type AuthInfo, authInfoOf } from './auth-info.ts'
import { readCredentials } from './credentials.ts'
import type { PresentedRequest } from './presented-request.ts'
import { isRefused } from './refusal.ts'
import { type Requirement, requirementOf } from './requirement.ts'
import { resourceOf, wellKnown } from './resource.ts'
import { type AccessToken, createResourceServer } from './resource-server.ts'
import type { ProtectedResourceOptions } from './resource-server-options.ts'
import { withHeaders } from './response.ts'

/** The options of `mcpAuth()`: those of {@link createResourceServer}, and what each request needs. */
export interface McpAuthOptions extends ProtectedResourceOptions, Requirement {
  /**
   * Whether pages of all origins may call the server, such as the MCP Inspector. They get no cookies. Default: `true`.
   * `false`: your own middleware sends the headers of CORS, and answers preflights before this one.
   */
  readonly cors?: boolean | undefined
}

/** The outcome for a request: a response, or a valid token with which the MCP server handles the request. */
export type McpOutcome =
  | { readonly response: Response }
  | {
      readonly response?: undefined
      readonly token: AccessToken
      readonly authInfo: AuthInfo
      /** Headers that the response must have. */
      readonly headers: Readonly<Record<string, string>>
    }

const corsHeaders: Readonly<Record<string, string>> = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate, DPoP-Nonce',
}

/** `*` includes `Mcp-Param-…` and headers of traces, but not `Authorization`. Older browsers know only the names. */
const allowedHeaders = `Authorization, Content-Type, DPoP, Last-Event-ID, Mcp-Method, Mcp-Name, \
MCP-Protocol-Version, Mcp-Session-Id, *`

const preflightHeaders = {
  ...corsHeaders,
  'access-control-allow-methods': 'GET, POST, DELETE, OPTIONS',
  'access-control-allow-headers': allowedHeaders,
  'access-control-max-age': '7200',
}

const isPreflight = ({ method, headers }: PresentedRequest): boolean =>
  method === 'OPTIONS' && headers.has('access-control-request-method')

/**
 * Whether a request is for a metadata document. Clients also request the one at the root, which does not exist: a 401
 * would hide that.
 */
function isForMetadata({ url }: PresentedRequest): boolean {
  const path = URL.canParse(url) ? new URL(url).pathname : ''
  return path === wellKnown || path.startsWith(`${wellKnown}/`)
}

/**
 * Returns the function that decides about the requests to an MCP server. It protects all requests that it receives,
 * whatever their path: a check of the path could read it in another way than the router.
 *
 * @throws TypeError with one sentence for a mistake in the options
 */
export function createMcpCheck(options: McpAuthOptions): (request: PresentedRequest) => Promise<McpOutcome> {
  const { scopes, acrValues, maxAge, cors = true, ...settings } = options
  if (typeof cors !== 'boolean') throw new TypeError('cors must be true or false')
  const requirement = { scopes, acrValues, maxAge }
  const published = requirementOf(requirement).scopes
  const resource = resourceOf(options.resource)
  const metadata = { ...(published.length > 0 && { scopes: published }), ...settings.metadata }
  const api = createResourceServer({ ...settings, metadata })
  const added = cors ? corsHeaders : {}

  return async (request) => {
    const document = api.metadata(request)
    if (document !== undefined) return { response: document }
    if (isForMetadata(request)) return { response: new Response(null, { status: 404, headers: added }) }
    if (cors && isPreflight(request))
      return { response: new Response(null, { status: 204, headers: preflightHeaders }) }
    const { token, response } = await api.authorize(request, requirement)
    if (response !== undefined) return { response: withHeaders(response, added) }
    const credentials = readCredentials(request.headers)
    if (isRefused(credentials)) throw new TypeError('the headers of the request have changed')
    return {
      token,
      authInfo: authInfoOf(credentials.token, token, resource),
      headers: { ...added, ...token.headers },
    }
  }
}
