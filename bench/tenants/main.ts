// Measures what tenants cost: memory of those in use, the first request of one, and the routing of each request.
import { createHash } from 'node:crypto'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createProvider, storedKeys } from '@grantry/core'
import { createTenants, type TenantProviderOptions, tenantsByPath } from '@grantry/core/tenants'
import { createPages } from '@grantry/pages'
import { authorizationCode } from '@grantry/plugins/authorization-code'
import { authorizationEndpoint } from '@grantry/plugins/authorization-endpoint'
import { clientCredentials } from '@grantry/plugins/client-credentials'
import { proofKey } from '@grantry/plugins/proof-key'
import { refreshToken } from '@grantry/plugins/refresh-token'
import { signIn } from '@grantry/plugins/sign-in'
import { memoryDriver } from '@grantry/storage-drivers/memory'

const total = 1000
const requests = 20_000
const base = 'https://id.example.com'
const issuerOf = (name: string): string => `${base}/t/${name}`

const sha256 = createHash('sha256').update('secret').digest('base64')

function optionsOf(name: string): TenantProviderOptions {
  const pages = createPages({})
  return {
    issuer: issuerOf(name),
    keys: storedKeys(),
    clients: [
      {
        clientId: 'web',
        secrets: [{ sha256 }],
        grantTypes: ['client_credentials', 'authorization_code', 'refresh_token'],
        redirectUris: ['https://web.example.com/callback'],
        scopes: ['api1', 'openid'],
        accessTokenFormat: 'reference',
      },
    ],
    scopes: [{ name: 'api1' }],
    users: { authenticate: () => undefined },
    plugins: [
      clientCredentials(),
      authorizationCode(),
      proofKey(),
      refreshToken(),
      authorizationEndpoint({ interaction: signIn({ pages }), pages }),
    ],
    observe: () => {},
  }
}

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void
const megabytes = (bytes: number): string => `${(bytes / 1_048_576).toFixed(1)} MB`

function memory(label: string): void {
  collect()
  collect()
  const { heapUsed, rss } = process.memoryUsage()
  console.log(`${label.padEnd(44)} heap ${megabytes(heapUsed).padStart(9)}   RSS ${megabytes(rss).padStart(9)}`)
}

const requestTo = (issuer: string): Request =>
  new Request(`${issuer}/connect/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa('web:secret')}`, 'content-type': 'application/x-www-form-urlencoded' },
    body: 'grant_type=client_credentials&scope=api1',
  })

async function issue(fetch: (request: Request) => Promise<Response>, issuer: string): Promise<void> {
  const response = await fetch(requestTo(issuer))
  if (response.status !== 200) throw new Error(`${issuer} responds with ${response.status}`)
  await response.text()
}

async function microsecondsOf(fetch: (request: Request) => Promise<Response>, issuer: string): Promise<number> {
  const started = performance.now()
  for (let sent = 0; sent < requests; sent += 1) await issue(fetch, issuer)
  return ((performance.now() - started) / requests) * 1000
}

async function measureMemory(): Promise<void> {
  const names = Array.from({ length: total }, (_, index) => `tenant-${index}`)
  const known = new Set(names)
  const tenants = createTenants({
    storage: memoryDriver(),
    tenantOf: tenantsByPath(),
    maxOpen: total,
    find: (name) => (known.has(name) ? { name, open: () => optionsOf(name) } : undefined),
  })
  memory(`${total} tenants, none in use`)
  for (const name of names.slice(0, 10)) await issue(tenants.fetch, issuerOf(name))
  memory(`${total} tenants, 10 in use`)
  const started = performance.now()
  for (const name of names.slice(10)) await issue(tenants.fetch, issuerOf(name))
  const each = (performance.now() - started) / (total - 10)
  memory(`${total} tenants, ${tenants.size} in use`)
  console.log(`first request of a tenant, with its keys${''.padEnd(5)} ${each.toFixed(1)} ms`)
  await tenants.close()
  memory('all closed, their records in the memory driver')
}

async function measureRouting(): Promise<void> {
  const storage = memoryDriver()
  const provider = await createProvider({ ...optionsOf('alone'), storage })
  const tenants = createTenants({
    storage: memoryDriver(),
    tenantOf: tenantsByPath(),
    find: (name) => ({ name, open: () => optionsOf(name) }),
  })
  const rounds: { alone: number; tenant: number }[] = []
  for (let round = 0; round < 5; round += 1) {
    const alone = await microsecondsOf(provider.fetch, issuerOf('alone'))
    rounds.push({ alone, tenant: await microsecondsOf(tenants.fetch, issuerOf('acme')) })
  }
  const ratios = rounds.slice(1).map(({ alone, tenant }) => tenant / alone)
  for (const { alone, tenant } of rounds) {
    console.log(`a token request: ${alone.toFixed(1)} µs alone, ${tenant.toFixed(1)} µs of a tenant`)
  }
  console.log(`ratio, median of ${ratios.length} rounds: ${ratios.sort()[Math.floor(ratios.length / 2)]?.toFixed(3)}`)
}

await measureMemory()
await measureRouting()
