import { createServer } from 'node:http'
import { nodeListener } from '@grantry/adapters/node'
import { getRequestListener } from '@hono/node-server'
import { issuer, port } from '../provider.ts'
import { mcp, mcpPaths } from './mcp.ts'
import { createProviderForMcp } from './provider.ts'

const grantry = nodeListener(await createProviderForMcp())
const orders = getRequestListener(mcp)

const server = createServer((req, res) => {
  const [path = ''] = (req.url ?? '').split('?')
  if (mcpPaths.includes(path)) return orders(req, res)
  if (path === '/hello') return res.end('hello from Node.js')
  return grantry(req, res)
})
server.listen(port, '127.0.0.1', () => console.log(`Listening on ${issuer}`))
