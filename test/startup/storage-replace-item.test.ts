import { type AtomicDriver, createProvider, signingKeys } from '@grantry/core'
import { mapDriver } from '@grantry/testing'
import { expect, test } from 'vitest'

const start = (storage: AtomicDriver) =>
  createProvider({ issuer: 'https://id.example.com', keys: signingKeys(), storage, clients: [], plugins: [] })

/** A driver on this map, with the given methods. */
const driver = (more: object, items = new Map<string, string>()): AtomicDriver => ({
  ...mapDriver(items),
  name: 'broken',
  ...more,
})

const refusal = (message: string) => ({ name: 'TypeError', message })

test('rejects a driver without replaceItem(): two sign-ins could lose a session of the list', async () => {
  await expect(start(driver({ replaceItem: undefined }))).rejects.toMatchObject(
    refusal(
      'storage: broken has no replaceItem(), so lists that two requests change could lose a member; use a driver of @grantry/storage-drivers, or add the method (docs/guides/custom-driver.md)',
    ),
  )
})

test('rejects a replaceItem() that does not compare, or does not tell whether it has replaced', async () => {
  const items = new Map<string, string>()
  const write = (key: string, { to }: { to: string }): boolean => {
    items.set(key, to)
    return true
  }
  const replaceIfEqual = (key: string, { from, to }: { from: string; to: string }): boolean =>
    items.get(key) === from && write(key, { to })
  for (const replaceItem of [
    write,
    () => true,
    () => false,
    async (...all: Parameters<typeof replaceIfEqual>) => void replaceIfEqual(...all),
  ]) {
    await expect(start(driver({ replaceItem }, items))).rejects.toMatchObject(
      refusal(
        'storage: replaceItem() of broken must replace the value only if it is the expected one, and return whether it did (docs/guides/custom-driver.md)',
      ),
    )
  }
})
