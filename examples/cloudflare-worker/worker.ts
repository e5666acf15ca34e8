import { worker } from '@grantry/cloudflare'
import { storedKeys } from '@grantry/core'
import { clientCredentials } from '@grantry/plugins/client-credentials'
import { type D1Binding, d1Driver } from '@grantry/storage-drivers/d1'
import { demoClient, demoScope } from '../provider.ts'

interface Environment {
  readonly DB: D1Binding
  readonly ISSUER: string
  /** A secret. It encrypts the signing keys in the database. */
  readonly KEY_SECRET: string
}

const notFound = (): Response => new Response('Not found', { status: 404 })

export default worker(
  ({ DB, ISSUER, KEY_SECRET }: Environment) => ({
    issuer: ISSUER,
    keys: storedKeys({ algorithms: ['ES256'], encryptionSecret: KEY_SECRET }),
    storage: d1Driver({ database: DB }),
    clients: [demoClient],
    scopes: [demoScope],
    plugins: [clientCredentials()],
  }),
  {
    // Your own routes.
    fetch: ({ url }) => (new URL(url).pathname === '/hello' ? new Response('hello from a Worker') : notFound()),
  },
) satisfies ExportedHandler<Environment>
