import { fetchMiddleware } from '@grantry/adapters/fetch'
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { createGrantry } from './grantry.ts'
import { createSite, sitePaths } from './site.ts'

const provider = await createGrantry(process.env)
const site = createSite(provider, process.env)
// Limits for each address need `clientAddress`: the header in which your platform passes the address of the client.
const grantry = fetchMiddleware(provider)

const app = new Hono()
app.use((c, next) => grantry(c.req.raw) ?? next())
for (const path of sitePaths) app.all(path, (c) => site(c.req.raw))

const server = serve({ fetch: app.fetch, port: Number(process.env.PORT ?? 3000), hostname: '127.0.0.1' }, ({ port }) =>
  console.log(`Listening on http://127.0.0.1:${port}`),
)

// Work that no request waits for, such as mails that are sent again.
const tasks = setInterval(() => void provider.runTasks(), 5000)

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    clearInterval(tasks)
    server.close(() => void provider.close())
  })
}
