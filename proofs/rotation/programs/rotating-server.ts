// One of the processes of a service whose keys rotate under load: a whole provider, a slow store, and a fast clock.

import { storedKeys } from '@grantry/core'
import { createLocalJWKSet, decodeJwt, type JSONWebKeySet, jwtVerify } from 'jose'
import { clients, fixture, webJwt } from '../../../test/support/fixture.ts'
import { withLatency } from '../../../test/support/latency.ts'
import { driverAt } from '../../../test/support/network-driver.ts'
import { takeOrders } from '../../../test/support/ordered-process.ts'
import { accessTokenLifetime, type Order, rotateAfter, type Setting, type Verdicts } from '../orders.ts'

const { store, base, speed }: Setting = JSON.parse(process.argv[2] ?? '')
const driver = driverAt(store, { operationTimeout: 20 })
await driver.open()
const now = (): number => Math.floor((base + (Date.now() - base) * speed) / 1000)
const f = await fixture({
  keys: storedKeys({
    // One chain of rotations; each algorithm has its own.
    algorithms: ['ES256'],
    rotateAfter,
    keepFor: 1,
    refreshInterval: 30,
    encryptionSecret: 'a-secret-of-thirty-two-characters',
  }),
  storage: withLatency(driver),
  storageTimeLimit: 30,
  clients: clients.map((client) => ({ ...client, accessTokenLifetime, identityTokenLifetime: 300 })),
  runtime: { now, elapsed: () => performance.now() * speed },
})

async function issue(): Promise<string> {
  const { status, body } = await f.post('token', { grant_type: 'client_credentials', scope: 'api1' }, webJwt)
  if (status !== 200) throw new Error(`no token: ${status} ${JSON.stringify(body)}`)
  return body.access_token
}

// An API caches the key list for as long as the response allows, and requests it again only then, not when it meets an
// unknown key.
let cached: { readonly until: number; readonly keys: ReturnType<typeof createLocalJWKSet> } | undefined
async function publishedKeys(): Promise<ReturnType<typeof createLocalJWKSet>> {
  if (cached !== undefined && now() < cached.until) return cached.keys
  const requestedAt = now()
  const { body, headers } = await f.get('jwks')
  const lifetime = Number(/max-age=(\d+)/u.exec(headers.get('cache-control') ?? '')?.[1])
  cached = { until: requestedAt + lifetime, keys: createLocalJWKSet(body as JSONWebKeySet) }
  return cached.keys
}

async function faultOf(token: string): Promise<string | undefined> {
  const { status } = await f.post('accessTokenValidation', { token })
  if (status !== 200) return `refused by the process with ${status}`
  try {
    await jwtVerify(token, await publishedKeys(), { currentDate: new Date(now() * 1000) })
    return undefined
  } catch (error) {
    return `refused by an API: ${String(error)}`
  }
}

async function validate(tokens: readonly string[]): Promise<Verdicts> {
  const faults = await Promise.all(tokens.map(faultOf))
  const failed = faults.flatMap((fault, index) => (fault === undefined ? [] : [[fault, tokens[index] ?? ''] as const]))
  const late = failed.filter(([, token]) => (decodeJwt(token).exp ?? 0) <= now())
  return {
    accepted: tokens.length - failed.length,
    late: late.length,
    refused: failed.filter((each) => !late.includes(each)).map(([fault, token]) => `${fault} (${token.slice(0, 120)})`),
  }
}

async function carryOut(order: Order): Promise<unknown> {
  switch (order.what) {
    case 'issue':
      return Promise.all(Array.from({ length: order.count }, issue))
    case 'validate':
      return validate(order.tokens)
    case 'list':
      return f.provider.keys.list()
    case 'rotate':
      return f.provider.keys.rotate().then(
        () => 'done',
        (error: unknown) => {
          if (/published too recently/u.test(String(error))) return 'refused'
          throw error
        },
      )
    case 'events': {
      const failure = f.events.find(({ type }) => type === 'unhandled_failure')
      if (failure !== undefined) throw new Error(`unhandled failure: ${JSON.stringify(failure)}`)
      return f.events.filter(({ type }) => type === 'keys_rotated')
    }
  }
}

takeOrders<Order>(carryOut)
