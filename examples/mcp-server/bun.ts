import { bunHandler } from '@grantry/adapters/bun'
import { issuer, port } from '../provider.ts'
import { mcp, mcpPaths } from './mcp.ts'
import { createProviderForMcp } from './provider.ts'

const grantry = bunHandler(await createProviderForMcp())

Bun.serve({
  port,
  hostname: '127.0.0.1',
  development: false,
  routes: { '/hello': () => new Response('hello from Bun') },
  fetch: (request, server) =>
    mcpPaths.includes(new URL(request.url).pathname) ? mcp(request) : grantry(request, server),
})
console.log(`Listening on ${issuer}`)
