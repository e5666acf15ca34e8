// Module for child processes of the conformance kit: files with one lock per process, which fails with several
// processes, on a disk slow enough to show it every time.
import { setTimeout as sleep } from 'node:timers/promises'
import type { AtomicDriver } from '@grantry/core'
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
  return unstorageDriver(createStorage({ driver: slow }), { singleProcess: true })
}

export function open(): AtomicDriver {
  const query = new URL(import.meta.url).searchParams
  return separateLocksDriver(query.get('directory') ?? '', query.get('halves') ?? '')
}
