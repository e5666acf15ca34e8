// `allowedCorsOrigins` of clients in the storage: pages of these origins can read responses.
import { openAdministration, refusalOf, storedEntries } from '@grantry/administration'
import { type EntryStore, openEntries } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { describe, expect, test } from 'vitest'
import { builtInPlugins, fixture } from '../support/fixture.ts'

const issuer = 'https://id.example.com'
const [shop, blog] = ['https://shop.example.com', 'https://blog.example.com']
const accept = async (): Promise<void> => {}

function managerOn(entries: EntryStore) {
  const administration = openAdministration({
    entries,
    check: { client: accept, scope: accept, user: accept },
    hashPassword: async (password) => password,
    revoke: accept,
  })
  return administration.as({ who: 'alice' }).clients
}

async function service() {
  const storage = memoryDriver()
  const entries = openEntries({ issuer, storage })
  const plugins = [builtInPlugins, storedEntries({ entries, cacheFor: 5 })]
  const f = await fixture({ storage, plugins })
  async function allows(origin: string): Promise<boolean> {
    const headers = { origin, 'access-control-request-method': 'POST' }
    const { headers: returned } = await f.provider.fetch(
      new Request(`${issuer}/connect/token`, { method: 'OPTIONS', headers }),
    )
    return returned.get('access-control-allow-origin') === origin
  }
  return { entries, clients: managerOn(entries), clock: f.clock, allows, events: f.events }
}

const app = { public: true, grantTypes: ['authorization_code'] }

/** Lets the writes of one method fail after a number of them. */
function failingAfter(entries: EntryStore, writes: number): EntryStore {
  let left = writes
  const counted =
    <A extends readonly unknown[], R>(method: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      if (left === 0) throw new Error('the storage failed')
      left -= 1
      return method(...args)
    }
  return {
    ...entries,
    create: counted(entries.create),
    replace: counted(entries.replace),
    remove: counted(entries.remove),
  }
}

describe('an origin', () => {
  test('is allowed while an enabled client has it', async () => {
    const { clients, clock, allows } = await service()
    expect(await allows(shop)).toBe(false)
    await clients.add({ clientId: 'app', ...app, allowedCorsOrigins: [shop] })
    expect([await allows(shop), await allows(blog)]).toEqual([true, false])
    const steps = [
      [{ allowedCorsOrigins: [blog] }, false, true],
      [{ enabled: false }, false, false],
      [{ enabled: true }, false, true],
      [{ allowedCorsOrigins: null }, false, false],
    ] as const
    for (const [change, first, second] of steps) {
      await clients.edit('app', change)
      clock.advance(61)
      expect([await allows(shop), await allows(blog)], JSON.stringify(change)).toEqual([first, second])
    }
  })

  test('of several clients is allowed until the last one is removed', async () => {
    const { clients, clock, allows } = await service()
    for (const clientId of ['one', 'two']) await clients.add({ clientId, ...app, allowedCorsOrigins: [shop] })
    await clients.remove('one')
    clock.advance(61)
    expect(await allows(shop)).toBe(true)
    await clients.remove('two')
    clock.advance(61)
    expect(await allows(shop)).toBe(false)
  })

  test('stays allowed for a client that gets it while another change drops it', async () => {
    const { clients, entries, clock, allows } = await service()
    await clients.add({ clientId: 'app', ...app, allowedCorsOrigins: [shop] })
    // The second administrator adds the origin to another client after the first one has read it, before it is removed.
    const slow = managerOn({
      ...entries,
      async replace(kind, ...rest) {
        const replaced = await entries.replace(kind, ...rest)
        if (kind === 'client') await clients.add({ clientId: 'late', ...app, allowedCorsOrigins: [shop] })
        return replaced
      },
    })
    await slow.edit('app', { allowedCorsOrigins: [] })
    clock.advance(61)
    expect(await allows(shop)).toBe(true)
  })

  test('is that of the client after a repeated change, wherever the first attempt has failed', async () => {
    for (let writes = 0; writes < 9; writes += 1) {
      const { clients, entries, clock, allows } = await service()
      await clients.add({ clientId: 'app', ...app, allowedCorsOrigins: [shop] })
      const change = { allowedCorsOrigins: [blog] }
      await managerOn(failingAfter(entries, writes)).edit('app', change).catch(accept)
      await clients.edit('app', change)
      clock.advance(61)
      expect(await allows(blog), `${writes} writes`).toBe(true)
    }
  })

  test('has at most 1,000 clients', async () => {
    const { clients, entries } = await service()
    await clients.add({ clientId: 'app', ...app, allowedCorsOrigins: [shop] })
    const { entries: origins } = await entries.list('origin', { limit: 10 })
    const [{ id, version } = { id: '', version: '' }] = origins
    const names = Array.from({ length: 1000 }, (_, number) => String(number).padStart(24, '0'))
    await entries.replace('origin', id, version, { origin: shop, clients: names })
    const refused = clients.add({ clientId: 'more', ...app, allowedCorsOrigins: [shop] })
    expect(await refused.catch(refusalOf)).toEqual({ reason: 'invalid', member: 'allowedCorsOrigins' })
    expect(await clients.has('more')).toBe(false)
  })
})
