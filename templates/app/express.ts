import type { AddressInfo } from 'node:net'
import { nodeMiddleware, nodeRoute, nodeRuntime } from '@grantry/adapters/node'
import express from 'express'
import { createGrantry } from './grantry.ts'
import { createSite, sitePaths } from './site.ts'

const provider = await createGrantry(process.env, { runtime: nodeRuntime })
const site = createSite(provider, process.env)

const app = express()
// Before any body parser, because a body can be read only once.
app.use(nodeMiddleware(provider))
app.all([...sitePaths], nodeRoute<express.Request>(provider, site))

const server = app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', (error) => {
  if (error) throw error
  console.log(`Listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})

// Work that no request waits for, such as mails that are sent again.
const tasks = setInterval(() => void provider.runTasks(), 5000)

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    clearInterval(tasks)
    server.close(() => void provider.close())
  })
}
