import { worker } from '@grantry/cloudflare'
import { type D1Binding, d1Driver } from '@grantry/storage-drivers/d1'
import { grantryOptions } from './grantry.ts'
import { createSite, sitePaths } from './site.ts'

/** The database of wrangler.jsonc, beside the settings of .dev.vars. */
interface Bindings {
  readonly DB: D1Binding
}

// The first request creates the provider. The cron trigger of wrangler.jsonc rotates its keys and removes expired items.
export default worker<Bindings>(
  ({ DB, ...env }, provider) => grantryOptions(env, { storage: d1Driver({ database: DB }) }, provider),
  {
    fetch(request, { DB, ...env }, _context, provider) {
      if (!sitePaths.includes(new URL(request.url).pathname)) return provider.notFound(request)
      const clientAddress = request.headers.get('cf-connecting-ip') ?? undefined
      return createSite(provider, env)(request, { clientAddress })
    },
  },
)
