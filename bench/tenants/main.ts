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
const batch = 200
const rounds = 150
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

/** Microseconds of processor time for each request of a batch: other programs on the machine count less than in elapsed time. */
async function microsecondsOf(fetch: (request: Request) => Promise<Response>, issuer: string): Promise<number> {
  const { user, system } = process.cpuUsage()
  for (let sent = 0; sent < batch; sent += 1) await issue(fetch, issuer)
  const { user: userNow, system: systemNow } = process.cpuUsage()
  return (userNow + systemNow - user - system) / batch
}

const quantile = (sorted: readonly number[], part: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN

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
  const fetches = { alone: provider.fetch, tenant: tenants.fetch }
  const issuers = { alone: issuerOf('alone'), tenant: issuerOf('acme') }
  const measure = (which: 'alone' | 'tenant') => microsecondsOf(fetches[which], issuers[which])
  for (let round = 0; round < 20; round += 1) await Promise.all([measure('alone'), measure('tenant')])
  const pairs: { alone: number; tenant: number }[] = []
  for (let round = 0; round < rounds; round += 1) {
    // In turn, so that a change of the machine reaches both.
    const first = round % 2 === 0 ? 'alone' : 'tenant'
    const firstRun = await measure(first)
    const secondRun = await measure(first === 'alone' ? 'tenant' : 'alone')
    pairs.push(first === 'alone' ? { alone: firstRun, tenant: secondRun } : { alone: secondRun, tenant: firstRun })
  }
  const sortedOf = (value: (pair: { alone: number; tenant: number }) => number) =>
    pairs.map(value).sort((x, y) => x - y)
  const alone = sortedOf((pair) => pair.alone)
  const tenant = sortedOf((pair) => pair.tenant)
  const ratios = sortedOf((pair) => pair.tenant / pair.alone)
  const shown = (part: number): string => quantile(ratios, part).toFixed(3)
  console.log(
    `a token request, median: ${quantile(alone, 0.5).toFixed(1)} µs alone, ${quantile(tenant, 0.5).toFixed(1)} µs of a tenant`,
  )
  console.log(`ratio of ${rounds} pairs: median ${shown(0.5)}, quartiles ${shown(0.25)} to ${shown(0.75)}`)
}

/** The cost of more tenants in use than can be open. */
async function measureCrowd(): Promise<void> {
  const names = Array.from({ length: 20 }, (_, index) => `tenant-${index}`)
  for (const maxOpen of [20, 10]) {
    let opened = 0
    const tenants = createTenants({
      storage: memoryDriver(),
      tenantOf: tenantsByPath(),
      maxOpen,
      observeTenants: ({ type }) => {
        if (type === 'tenant_opened') opened += 1
      },
      find: (name) => ({ name, open: () => optionsOf(name) }),
    })
    for (const name of names) await issue(tenants.fetch, issuerOf(name))
    opened = 0
    const started = performance.now()
    const count = 1000
    for (let sent = 0; sent < count; sent += 1) await issue(tenants.fetch, issuerOf(names[sent % names.length] ?? ''))
    const each = (performance.now() - started) / count
    console.log(
      `20 tenants in turn, maxOpen ${maxOpen}: ${each.toFixed(2)} ms a request, ${opened} opened for ${count} requests`,
    )
    await tenants.close()
  }
}

await measureMemory()
await measureRouting()
await measureCrowd()
