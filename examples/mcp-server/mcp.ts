import { mcpAuth } from '@grantry/resource-server'
import { createMcpHandler, McpServer, requireScopes } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { issuer } from '../provider.ts'
import { resource } from './provider.ts'

const text = (value: string) => ({ content: [{ type: 'text' as const, text: value }] })

function createServer(): McpServer {
  const server = new McpServer({ name: 'orders', version: '1.0.0' })
  server.registerTool('list_orders', { description: 'Lists the orders of the user' }, ({ http }) =>
    text(`Orders of ${http?.authInfo?.extra?.sub}: 1, 2`),
  )
  server.registerTool(
    'cancel_order',
    {
      description: 'Cancels an order of the user',
      inputSchema: z.object({ order: z.number() }),
      // The client asks the user for both, if its token has only the first.
      scopeChallenge: requireScopes('orders:read', 'orders:cancel'),
    },
    ({ order }) => text(`Order ${order} is canceled`),
  )
  return server
}

/** The paths of the MCP server and of the document by which clients find the issuer. */
export const mcpPaths: readonly string[] = ['/mcp', '/.well-known/oauth-protected-resource/mcp']

/** The MCP server. It knows only the URL of the issuer, which could run elsewhere. */
export const mcp = mcpAuth(
  { issuer, resource, scopes: 'orders:read', metadata: { scopes: ['orders:read', 'orders:cancel'], name: 'Orders' } },
  createMcpHandler(createServer).fetch,
)
