import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AtomicDriver } from '@grantry/core'
import { filesystemDriver } from '@grantry/storage-drivers/filesystem'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { sqliteDriver } from '@grantry/storage-drivers/sqlite'
import { afterAll, expect, test } from 'vitest'
import { answer } from './browser.ts'
import { ownPages, setUpPages } from './own-pages.ts'

const directory = mkdtempSync(join(tmpdir(), 'grantry-code-costs-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

/** Counts the calls of the driver's functions. */
function counted(driver: AtomicDriver) {
  let calls = 0
  const storage = new Proxy(driver, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name)
      if (typeof member !== 'function') return member
      return (...values: readonly unknown[]) => {
        calls += 1
        return member.apply(target, values)
      }
    },
  })
  return { storage, calls: () => calls }
}

const stores: Readonly<Record<string, () => AtomicDriver>> = {
  memory: memoryDriver,
  SQLite: () => sqliteDriver({ file: join(directory, 'grantry.db') }),
  files: () => filesystemDriver({ directory: join(directory, 'files'), fsync: false }),
}

test.each(Object.keys(stores))(
  'the 200th code of a user costs as many calls of the storage as the first: %s',
  async (name) => {
    const driver = (stores[name] as () => AtomicDriver)()
    const { storage, calls } = counted(driver)
    const f = await setUpPages({}, { storage })
    const browser = f.browser()
    await f.signIn(browser)
    const costs: number[] = []
    for (let count = 0; count < 200; count += 1) {
      const before = calls()
      const response = await f.ask(browser, { scope: 'openid offline_access', prompt: 'none' })
      expect(answer(response)).toHaveProperty('code')
      costs.push(calls() - before)
    }
    await driver.dispose?.()
    // It was 13 at first, and 316 when the list of the user was full.
    expect(new Set(costs).size).toBe(1)
    expect(costs[0]).toBeLessThanOrEqual(10)
  },
)

test('a code with a remembered consent costs as many calls of the storage', async () => {
  const { storage, calls } = counted(memoryDriver())
  const f = await setUpPages({}, { storage }, async (interaction) => {
    const decision = await ownPages.interact(interaction)
    if (!('scopes' in decision)) return decision
    return (await interaction.recallConsent()) ?? { scopes: decision.scopes, trusted: true, remember: true }
  })
  const browser = f.browser()
  const scope = 'openid offline_access'
  await f.signIn(browser, 'alice', { scope })
  const before = calls()
  expect(answer(await f.ask(browser, { scope, prompt: 'none' }))).toHaveProperty('code')
  // It was 14: the list of authorizations read the epoch of the client that the code has.
  expect(calls() - before).toBe(13)
})

test('the redemption of a code reads nothing about a client that cannot change', async () => {
  const { storage, calls } = counted(memoryDriver())
  const f = await setUpPages({}, { storage })
  const { code } = answer(await f.signIn(f.browser()))
  const before = calls()
  expect((await f.redeem(code)).status).toBe(200)
  // The code, its spent marker, the revision, and the commit. It was 5.
  expect(calls() - before).toBe(4)
})

test('a place in the list of authorizations costs no hash for each place', async () => {
  let count = 0
  const hash = (data: Uint8Array | string) => {
    count += 1
    return createHash('sha256').update(data)
  }
  const sha256 = (data: Uint8Array) => new Uint8Array(hash(data).digest())
  const f = await setUpPages({}, { runtime: { sha256, sha256Hex: (text) => hash(text).digest('hex') } })
  const browser = f.browser()
  await f.signIn(browser)
  const before = count
  // The first one in the list: no other one can have its place.
  const code = await f.ask(browser, { scope: 'openid offline_access', prompt: 'none' })
  expect(answer(code)).toHaveProperty('code')
  // It was 210: two for each place.
  expect(count - before).toBeLessThanOrEqual(20)
})
