// Module for child processes of the conformance kit: files with one lock per process, which fails with several
// processes. Every fault shows, however busy the machine is.
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { AtomicDriver } from '@grantry/core'
import { unstorageDriver } from '@grantry/storage-drivers/unstorage'
import { createStorage, type Driver } from 'unstorage'
import fsDriver from 'unstorage/drivers/fs'
import { pause } from '../../support/pause.ts'

/** What a driver does wrong. None: it is correct as long as no other process writes. */
export interface Faults {
  /** Between the check and the write of an insert, it waits for another process to have checked the same key. */
  readonly meets?: boolean
  /** Prefix of the keys whose values it completes only in `dispose()`. */
  readonly halves?: string | undefined
}

/** Resolves when two processes have called it with this key. */
function createMeeting(base: string): (key: string) => Promise<void> {
  const directory = join(base, '..', 'meetings')
  return async (key) => {
    const meeting = join(directory, key.replaceAll(':', '_'))
    mkdirSync(meeting, { recursive: true })
    writeFileSync(join(meeting, String(process.pid)), '')
    while (readdirSync(meeting).length < 2) await pause(10)
  }
}

/** Files whose values with the prefix are cut, and how to complete them. */
function cutFiles(base: string, halves: string | undefined) {
  const files = fsDriver({ base })
  const cut = new Map<string, string>()
  const driver: Driver = {
    ...files,
    async setItem(key, value, options) {
      const isCut = halves !== undefined && key.startsWith(halves)
      if (isCut) cut.set(key, value)
      await files.setItem?.(key, isCut ? value.slice(0, value.length / 2) : value, options)
    },
  }
  const complete = async (): Promise<void> => {
    for (const [key, value] of cut) await files.setItem?.(key, value, {})
  }
  return { driver, complete }
}

export function separateLocksDriver(directory: string, { meets = false, halves }: Faults = {}): AtomicDriver {
  const base = join(directory, 'items')
  const { driver: files, complete } = cutFiles(base, halves)
  const driver = unstorageDriver(createStorage({ driver: files }), { singleProcess: true })
  const meet = createMeeting(base)
  const turns = new Map<string, Promise<unknown>>()
  const created = new Set<string>()
  return {
    ...driver,
    insertItem(key, value, options) {
      if (!meets) return driver.insertItem(key, value, options)
      const inserting = Promise.resolve(turns.get(key)).then(async () => {
        if ((await driver.getItem(key)) !== null) return false
        await meet(key)
        await driver.setItem(key, value, options)
        return true
      })
      turns.set(key, inserting)
      return inserting
    },
    // It knows the keys that this process has created.
    async commit({ create, put, remove }) {
      const existing = create.flatMap(({ key }) => (created.has(key) ? [key] : []))
      if (existing.length > 0) return existing
      for (const { key } of create) created.add(key)
      for (const { key, value, ttl } of [...create, ...put]) await driver.setItem(key, value, { ttl })
      for (const key of remove) await driver.removeItem(key, {})
      return true
    },
    dispose: complete,
  }
}

export function open(): AtomicDriver {
  const query = new URL(import.meta.url).searchParams
  const halves = query.get('halves') ?? undefined
  return separateLocksDriver(query.get('directory') ?? '', { meets: halves === undefined, halves })
}
