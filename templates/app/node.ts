import { nodeRuntime, serve } from '@grantry/adapters/node'
import { createGrantry } from './grantry.ts'
import { createSite, sitePaths } from './site.ts'

const provider = await createGrantry(process.env, { runtime: nodeRuntime })
const site = createSite(provider, process.env)

const { port, close } = await serve(
  {
    issuer: provider.issuer,
    fetch: async (request, connection) =>
      sitePaths.includes(new URL(request.url).pathname)
        ? site(request, connection)
        : provider.fetch(request, connection),
  },
  { port: Number(process.env.PORT ?? 3000) },
)
console.log(`Listening on http://127.0.0.1:${port}`)

// Work that no request waits for, such as mails that are sent again.
const tasks = setInterval(() => void provider.runTasks(), 5000)

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, async () => {
    clearInterval(tasks)
    await close()
    await provider.close()
  })
}
