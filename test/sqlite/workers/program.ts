// A Worker that runs the conformance kit on D1 and on the SQLite of a Durable Object.
import { copyItems } from '@grantry/storage-drivers/copy'
import { type D1Binding, d1Driver } from '@grantry/storage-drivers/d1'
import { type DurableObjectSqlStorage, durableObjectDriver } from '@grantry/storage-drivers/durable-object'
import { memoryDriver } from '@grantry/storage-drivers/memory'
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
    const items = await driver.getItems(keys.map((key) => ({ key })))
    if (!items.every((item) => item.value === value)) return new Response(`changed: ${JSON.stringify(items)}`)
    await driver.removeItem('committed')
  }
  await driver.setItem('gone', '{}', { ttl: Number.MIN_VALUE })
  const purged = await driver.purge()
  if (purged !== 1) return new Response(`purge() has removed ${purged} items`)
  return report(proveDriver({ open, operationTimeout: 30 }))
}

/** Copies items to D1 and from it, in several pages. */
async function copyThroughD1(database: D1Binding): Promise<Response> {
  const [from, to] = [memoryDriver(), memoryDriver()]
  for (let index = 0; index < 1100; index += 1) {
    const hash = index.toString(16).padStart(64, '0')
    await from.setItem(index % 2 === 0 ? `token:${hash}` : `name:${index}`, `value ${index}`, { ttl: 600 })
  }
  await from.setItem('unsafe', 'a\0b', { ttl: 600 })
  await from.setItem('endless', 'x')
  const driver = d1Driver({ database, prefix: 'copied' })
  await copyItems({ from, to: driver, final: true })
  const count = await driver.countItems()
  await copyItems({ from: driver, to, final: true })
  const listOf = async (listed: typeof from) => {
    const items: [string, string, boolean][] = []
    for await (const batch of listed.listItems())
      for (const { key, value, endsAt } of batch) items.push([key, value, endsAt < Date.now() + 601_000])
    return items.map((item) => JSON.stringify(item)).sort()
  }
  const [source, target] = [await listOf(from), await listOf(to)]
  const changed = target.filter((item, index) => item !== source[index])
  return new Response(`${count} items, ${source.length} and ${target.length}, changed: ${changed.slice(0, 3)}`)
}

const worker = {
  async fetch(request: Request, { DB, OBJECT }: Environment): Promise<Response> {
    const { pathname } = new URL(request.url)
    if (pathname === '/copy') return copyThroughD1(DB)
    if (pathname === '/d1') return proveD1(DB)
    return OBJECT.get(OBJECT.idFromName('provider')).fetch(request)
  },
}

// workerd requires a default export.
export default worker
