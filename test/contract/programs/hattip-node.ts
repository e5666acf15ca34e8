import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { hattipHandler } from '@grantry/adapters/hattip'
import { createMiddleware } from '@hattip/adapter-node'
import { contractProvider } from '../provider.ts'

// Set explicitly: otherwise hattip reads ORIGIN and TRUST_PROXY from the environment.
const listener = createMiddleware(hattipHandler(await contractProvider()), {
  origin: 'https://id.example.com',
  trustProxy: false,
  alwaysCallNext: false,
})
const server = createServer((req, res) => {
  listener(req, res)
})
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`listening on ${(server.address() as AddressInfo).port}\n`)
})
process.once('SIGTERM', () => {
  server.close()
  server.closeAllConnections()
})
