import { fetchHandler } from '@grantry/adapters/fetch'
import { type D1Binding, d1Driver } from '@grantry/storage-drivers/d1'
import { createGrantry } from './grantry.ts'
import { createSite, sitePaths } from './site.ts'

/** The database of wrangler.jsonc, beside the settings of .dev.vars. */
interface Bindings {
  readonly DB: D1Binding
}

const clientAddress = (request: Request) => request.headers.get('cf-connecting-ip') ?? undefined

async function open({ DB, ...env }: Bindings) {
  const storage = d1Driver({ database: DB })
  const provider = await createGrantry(env, { storage })
  const site = createSite(provider, env)
  const grantry = fetchHandler(provider, { clientAddress })
  const respond = (request: Request): Promise<Response> =>
    sitePaths.includes(new URL(request.url).pathname)
      ? site(request, { clientAddress: clientAddress(request) })
      : grantry(request)
  return { provider, storage, respond }
}

// A Worker has random values only in a request. Keeps the result, not the promise: a request cannot await one of another.
let opened: Awaited<ReturnType<typeof open>> | undefined

export default {
  async fetch(request: Request, bindings: Bindings): Promise<Response> {
    opened ??= await open(bindings)
    return opened.respond(request)
  },
  /** Called by the cron trigger in wrangler.jsonc. */
  async scheduled(_event: unknown, bindings: Bindings): Promise<void> {
    opened ??= await open(bindings)
    await opened.provider.runTasks()
    await opened.storage.purge()
  },
}
