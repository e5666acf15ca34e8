// A Worker that runs the conformance kit on D1 and on the SQLite of a Durable Object.
import { type D1Binding, d1Driver } from '@grantry/storage-drivers/d1'
import { type DurableObjectSqlStorage, durableObjectDriver } from '@grantry/storage-drivers/durable-object'
import { proveDriver } from '@grantry/testing/drivers'

interface Stub {
  fetch(request: Request): Promise<Response>
}

interface Environment {
  readonly DB: D1Binding
  readonly OBJECT: { idFromName(name: string): object; get(id: object): Stub }
}

async function report(proving: ReturnType<typeof proveDriver>): Promise<Response> {
  const text = await proving.then(
    (proved) => proved.text.split('\n')[0] ?? '',
    (error: Error) => error.message,
  )
  return new Response(text)
}

/** The object in which a provider runs. */
export class ProviderObject {
  private readonly storage: DurableObjectSqlStorage

  constructor(state: { readonly storage: DurableObjectSqlStorage }) {
    this.storage = state.storage
  }

  async fetch(): Promise<Response> {
    const open = () => durableObjectDriver({ storage: this.storage })
    const driver = open()
    await driver.setItem('gone', '{}', { ttl: Number.MIN_VALUE })
    const purged = await driver.purge()
    if (purged !== 1) return new Response(`purge() has removed ${purged} items`)
    return report(proveDriver({ open }))
  }
}

async function proveD1(database: D1Binding): Promise<Response> {
  const open = () => d1Driver({ database })
  const driver = open()
  for (const value of ['a\0b', 'x\ud800y']) {
    const keys = ['set', 'committed']
    await driver.setItem('set', value, { ttl: 60 })
    await driver.commit({ create: [{ key: 'committed', value, ttl: 60 }], put: [], remove: [] })
    const found = await driver.getItems(keys.map((key) => ({ key })))
    if (!found.every((item) => item.value === value)) return new Response(`changed: ${JSON.stringify(found)}`)
    await driver.removeItem('committed')
  }
  await driver.setItem('gone', '{}', { ttl: Number.MIN_VALUE })
  const purged = await driver.purge()
  if (purged !== 1) return new Response(`purge() has removed ${purged} items`)
  return report(proveDriver({ open, operationTimeout: 30 }))
}

const worker = {
  async fetch(request: Request, { DB, OBJECT }: Environment): Promise<Response> {
    if (new URL(request.url).pathname === '/d1') return proveD1(DB)
    return OBJECT.get(OBJECT.idFromName('provider')).fetch(request)
  },
}

// workerd requires a default export.
export default worker
