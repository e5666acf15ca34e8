import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client'
import { issuer } from '../provider.ts'
import { createSignIn } from './sign-in.ts'

// A client that knows only the URL of the MCP server.

const url = new URL('/mcp', issuer)
const { provider, nextCode, signOut } = await createSignIn(process.env.CLIENT_METADATA_URL)

/** Calls a tool. Signs the user in if the token is missing, or has not all scopes that the tool needs. */
async function call(name: string, parameters: Record<string, unknown> = {}): Promise<unknown> {
  const transport = new StreamableHTTPClientTransport(url, { authProvider: provider })
  const client = new Client({ name: 'order-assistant', version: '1.0.0' })
  try {
    await client.connect(transport)
    return (await client.callTool({ name, arguments: parameters })).content
  } catch (error) {
    if (!(error instanceof UnauthorizedError)) throw error
    await transport.finishAuth(await nextCode())
  } finally {
    await client.close()
  }
  return call(name, parameters)
}

console.log(JSON.stringify(await call('list_orders')))
console.log(JSON.stringify(await call('cancel_order', { order: 2 })))
await signOut()
