// Module for child processes of the conformance kit: files with one lock per process, which fails with several
// processes, on a disk slow enough to show it every time.
import { setTimeout as sleep } from 'node:timers/promises'
import type { AtomicDriver, DriverChanges } from '@grantry/core'
import { unstorageDriver } from '@grantry/storage-drivers/unstorage'
import { createStorage, type Driver } from 'unstorage'
import fsDriver from 'unstorage/drivers/fs'

/** @param halves prefix of the keys whose values are written in two halves */
export function separateLocksDriver(base: string, halves: string): AtomicDriver {
  const files = fsDriver({ base })
  const slow: Driver = {
    ...files,
    async getItem(key) {
      const found = await files.getItem(key)
      await sleep(10)
      return found
    },
    async setItem(key, value, options) {
      if (key.startsWith(halves)) {
        await files.setItem?.(key, value.slice(0, value.length / 2), options)
        await sleep(100)
      }
      await files.setItem?.(key, value, options)
    },
  }
  const driver = unstorageDriver(createStorage({ driver: slow }), { singleProcess: true })
  let queue: Promise<unknown> = Promise.resolve()

  async function perform({ create, put, remove }: DriverChanges): Promise<true | readonly string[]> {
    const found = await Promise.all(create.map(({ key }) => driver.getItem(key)))
    const existing = create.flatMap(({ key }, index) => (found[index] === null ? [] : [key]))
    if (existing.length > 0) return existing
    for (const { key, value, ttl } of [...create, ...put]) await driver.setItem(key, value, { ttl })
    for (const key of remove) await driver.removeItem(key, {})
    return true
  }

  return {
    ...driver,
    commit(changes) {
      const outcome = queue.then(() => perform(changes))
      queue = outcome.catch(() => undefined)
      return outcome
    },
  }
}

export function open(): AtomicDriver {
  const query = new URL(import.meta.url).searchParams
  return separateLocksDriver(query.get('directory') ?? '', query.get('halves') ?? '')
}
