import { openAdministration } from '@grantry/administration'
import { type AtomicDriver, openEntries } from '@grantry/core'
import { storageSpace } from '@grantry/core/tenants'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { describe, expect, test } from 'vitest'
import { storedSpace } from '../../packages/server/src/tenants/find-tenant.ts'
import { createRemoval } from '../../packages/server/src/tenants/remove-ended.ts'

const issuer = 'https://id.example.com'
const tenants = { by: 'path', prefix: '/t' } as const

async function setting() {
  const driver = memoryDriver()
  const entries = openEntries({ issuer, storage: driver })
  const check = { client: async () => {}, scope: async () => {}, user: async () => {}, tenant: async () => {} }
  const all = openAdministration({ entries, check, hashPassword: async () => '', revoke: async () => {} })
  const manager = all.as({ who: 'test' }).tenants
  /** Creates a tenant with 250 clients. */
  async function create(name: string) {
    const { createdAt } = await manager.add({ name })
    const entriesOfTenant = openEntries({
      issuer: `${issuer}/t/${name}`,
      storage: storageSpace(driver, storedSpace(name, createdAt)),
    })
    for (let count = 0; count < 250; count += 1) await entriesOfTenant.create('client', `c${count}`, {})
    return async () => (await entriesOfTenant.list('client', { limit: 1000 })).entries.length
  }
  const removalOn = (storage: AtomicDriver) => createRemoval(entries, storage, () => ({ issuer }), tenants)
  return { driver, manager, create, removalOn, removal: removalOn(driver) }
}

describe('the records of a tenant that has ended', () => {
  test('are removed in steps, two minutes later, and those of others stay', async () => {
    const { manager, create, removal, driver } = await setting()
    const [acme, beta] = [await create('acme'), await create('beta')]
    await manager.remove('acme')
    await removal.run()
    expect(await acme()).toBe(250)
    const later = Date.now() + 121_000
    await removal.run(later)
    expect(await acme()).toBe(150)
    for (let step = 0; step < 20; step += 1) await removal.run(later)
    expect([await acme(), await beta()]).toEqual([0, 250])
    expect(driver.getKeys().filter((key) => key.startsWith('entry:ended-tenant:'))).toHaveLength(1)
  })

  // Names of devices, keys of authenticator apps, and links to accounts elsewhere, whose keys are hashes.
  test('are removed whatever their keys are, also after the read of the storage has failed', async () => {
    const { manager, removalOn, driver } = await setting()
    const spaceOf = async (name: string) =>
      storageSpace(driver, storedSpace(name, (await manager.add({ name })).createdAt))
    const [acme, beta] = [await spaceOf('acme'), await spaceOf('beta')]
    const keys = Array.from({ length: 3000 }, (_, index) => `plugin:${index}`)
    for (const key of keys) await acme.setItem(key, 'Alice private laptop', { ttl: 3650 * 86_400 })
    for (const key of keys) await beta.setItem(key, 'of another tenant', { ttl: 3650 * 86_400 })
    await manager.remove('acme')
    let reads = 0
    const unreliable = {
      ...driver,
      async *listItems() {
        reads += 1
        for await (const items of driver.listItems()) {
          yield items
          if (reads === 1) throw new Error('the storage has failed')
        }
      },
    }
    const removal = removalOn(unreliable)
    const failures: unknown[] = []
    for (let step = 0; step < 60; step += 1)
      await removal.run(Date.now() + 121_000).catch((error: unknown) => failures.push(error))
    expect(failures).toEqual([new Error('the storage has failed')])
    expect(reads).toBe(2)
    const left = async (space: AtomicDriver) => {
      const values = await Promise.all(keys.map((key) => space.getItem(key)))
      return values.filter((value) => value !== null && value !== undefined).length
    }
    expect([await left(acme), await left(beta)]).toEqual([0, 3000])
  })

  test('are removed of each tenant that ends, also after many others', async () => {
    const { manager, create, removal } = await setting()
    for (let count = 0; count < 120; count += 1) {
      await manager.add({ name: `t${count}` })
      await manager.remove(`t${count}`)
    }
    const later = () => Date.now() + 121_000
    for (let step = 0; step < 2500; step += 1) await removal.run(later())
    const acme = await create('acme')
    await manager.remove('acme')
    for (let step = 0; step < 20; step += 1) await removal.run(later())
    expect(await acme()).toBe(0)
  })

  test('are not removed of a tenant that exists: its end was refused', async () => {
    const { manager, create, removal } = await setting()
    const acme = await create('acme')
    await expect(manager.remove('acme', { version: 'another' })).rejects.toThrow('was changed meanwhile')
    for (let step = 0; step < 20; step += 1) await removal.run(Date.now() + 121_000)
    expect(await acme()).toBe(250)
  })
})
