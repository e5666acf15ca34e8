import { createServer } from 'node:http'
import { nodeListener } from '@grantry/adapters/node'
import { createDemoProvider, issuer, port } from '../provider.ts'

const grantry = nodeListener(await createDemoProvider())

const server = createServer((req, res) => {
  if (req.method === 'GET' && req.url === '/hello') res.end('hello from node:http')
  // It answers everything else: with 404 what is not its own.
  else grantry(req, res)
})
server.listen(port, '127.0.0.1', () => console.log(`Listening on ${issuer}`))
