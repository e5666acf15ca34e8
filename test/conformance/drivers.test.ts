// Every driver that needs no server passes the conformance kit. Add a row per driver; drivers on Redis are in
// redis.test.ts.
import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import { filesystemDriver } from '@grantry/storage-drivers/filesystem'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { sqliteDriver } from '@grantry/storage-drivers/sqlite'
import { unstorageDriver } from '@grantry/storage-drivers/unstorage'
import { mapDriver } from '@grantry/testing'
import { driverProofs } from '@grantry/testing/drivers'
import { createStorage } from 'unstorage'
import fsDriver from 'unstorage/drivers/fs'
import { describe, test } from 'vitest'
import { inOneTrip } from '../support/latency.ts'
import {
  assertPassesEveryProof,
  named,
  noCommit,
  noEntries,
  noGetItems,
  noOutage,
  noProcesses,
  nothingShared,
  type Row,
  temporaryFiles,
} from './programs/table.ts'

const { newDirectory, moduleOf } = temporaryFiles()

const inMemory: readonly Row[] = [
  {
    name: 'memory',
    skipReasons: [noProcesses, noOutage, noGetItems, nothingShared],
    subject: () => ({ open: memoryDriver }),
  },
  {
    name: 'map, the driver of the test kit, with the real clock',
    skipReasons: [noProcesses, noOutage, noGetItems, noEntries, nothingShared],
    subject: () => ({ open: () => mapDriver(new Map(), () => Date.now() / 1000) }),
  },
  {
    name: 'memory, with getItems()',
    skipReasons: [noProcesses, noOutage, nothingShared],
    subject: () => ({ open: () => inOneTrip(memoryDriver()) }),
  },
  {
    name: 'unstorage over its memory driver, in a single process',
    skipReasons: [noProcesses, noOutage, noGetItems, noCommit, noEntries],
    subject() {
      const storage = createStorage()
      return { open: () => unstorageDriver(storage, { singleProcess: true }) }
    },
  },
  {
    name: 'unstorage over a mounted memory driver of Grantry',
    skipReasons: [noProcesses, noOutage, noGetItems, noCommit, noEntries],
    subject() {
      const storage = createStorage().mount('tokens', memoryDriver())
      return { open: () => unstorageDriver(storage, { base: 'tokens' }) }
    },
  },
]

// One after another: their operations are synchronous and would delay each other past the kit's time limits.
const onDisk: readonly Row[] = [
  {
    name: 'unstorage over its file driver, in a single process',
    skipReasons: [noProcesses, noOutage, noGetItems, noCommit, noEntries],
    async subject() {
      const storage = createStorage({ driver: fsDriver({ base: await newDirectory() }) })
      return { open: () => unstorageDriver(storage, { singleProcess: true }) }
    },
  },
  {
    name: 'filesystem, with 4 processes',
    skipReasons: [noOutage, noGetItems, noCommit],
    async subject() {
      const directory = await newDirectory()
      return {
        open: () => filesystemDriver({ directory }),
        module: await moduleOf('filesystem', { directory }),
        processes: 4,
      }
    },
  },
  {
    name: 'SQLite, with 2 processes',
    skipReasons: [noOutage],
    async subject() {
      const file = join(await newDirectory(), 'grantry.db')
      return {
        open: () => sqliteDriver({ file, operationTimeout: 30 }),
        module: await moduleOf('sqlite', { file }),
        processes: 2,
      }
    },
  },
]

describe('passes the conformance kit:', () => {
  test.concurrent.each(named(inMemory))('%s', async (_, row) => assertPassesEveryProof(row))

  test.each(named(onDisk))('%s', async (_, row) => assertPassesEveryProof(row))

  test('SQLite, whose directory disappears and returns', async () => {
    const directory = await newDirectory()
    const proofs = driverProofs({
      open: () => sqliteDriver({ file: join(directory, 'grantry.db') }),
      outage: {
        begin: () => rename(directory, `${directory}.away`),
        end: () => rename(`${directory}.away`, directory),
      },
    })
    for (const { name, prove } of proofs) if (/real outage|around an outage/u.test(name)) await prove()
  })

  // An unmounted disk must not look like a store in which nothing was revoked.
  test('filesystem, whose directory disappears and returns', async () => {
    const directory = await newDirectory()
    const proofs = driverProofs({
      open: () => filesystemDriver({ directory }),
      outage: {
        begin: () => rename(directory, `${directory}.away`),
        end: () => rename(`${directory}.away`, directory),
      },
    })
    for (const { name, prove } of proofs) if (/real outage|around an outage/u.test(name)) await prove()
  })
})
