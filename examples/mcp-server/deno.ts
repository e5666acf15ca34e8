import { denoHandler } from '@grantry/adapters/deno'
import { issuer, port } from '../provider.ts'
import { mcp, mcpPaths } from './mcp.ts'
import { createProviderForMcp } from './provider.ts'

const grantry = denoHandler(await createProviderForMcp())

Deno.serve({ port, hostname: '127.0.0.1', onListen: () => console.log(`Listening on ${issuer}`) }, (request, info) => {
  const { pathname } = new URL(request.url)
  if (mcpPaths.includes(pathname)) return mcp(request)
  if (pathname === '/hello') return new Response('hello from Deno')
  return grantry(request, info)
})
