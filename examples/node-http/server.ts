import { createServer } from 'node:http'
import { nodeListener } from '@grantry/adapters/node'
import { createDemoProvider, issuer, port } from '../provider.ts'

const grantry = nodeListener(await createDemoProvider())

const server = createServer((req, res) => {
  if (req.method === 'GET' && req.url === '/hello') res.end('hello from node:http')
  // Handles all other requests, with 404 for unknown paths.
  else grantry(req, res)
})
server.listen(port, '127.0.0.1', () => console.log(`Listening on ${issuer}`))
