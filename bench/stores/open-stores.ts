import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AtomicDriver } from '@grantry/core'
import { filesystemDriver } from '@grantry/storage-drivers/filesystem'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { postgresqlDriver } from '@grantry/storage-drivers/postgresql'
import { redisDriver } from '@grantry/storage-drivers/redis'
import { sqliteDriver } from '@grantry/storage-drivers/sqlite'
import { postgresqlMissing } from '../../test/support/postgresql-process.ts'
import { redisMissing, startRedis } from '../../test/support/redis-server.ts'
import { startBenchPostgresql } from '../run/bench-postgresql.ts'
import { cpuOf } from '../run/process-figures.ts'

/** A store with its default settings, or those that its guide recommends. */
export interface OpenStore {
  readonly driver: AtomicDriver
  /** Returns the CPU seconds of the database, without this process. */
  cpu(): number
  /** Returns the bytes in memory or on the disk. */
  bytes(): Promise<number>
  close(): Promise<void>
}

/** A kind of store. */
export interface StoreKind {
  readonly name: string
  /** What it needs and this machine lacks. */
  readonly missing?: string | undefined
  open(): Promise<OpenStore>
}

const noCpu = (): number => 0

async function openMemory(): Promise<OpenStore> {
  const driver = memoryDriver()
  return {
    driver,
    cpu: noCpu,
    async bytes() {
      globalThis.gc?.()
      return process.memoryUsage().heapUsed
    },
    close: async () => driver.clear(),
  }
}

const newDirectory = (): string => mkdtempSync(join(tmpdir(), 'grantry-bench-'))

async function openFiles(): Promise<OpenStore> {
  const directory = newDirectory()
  const driver = filesystemDriver({ directory })
  await driver.open?.()
  return {
    driver,
    cpu: noCpu,
    bytes: async () => Number(execFileSync('du', ['-s', '-B1', directory], { encoding: 'utf8' }).split('\t')[0]),
    async close() {
      await driver.dispose?.()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

async function openSqlite(): Promise<OpenStore> {
  const directory = newDirectory()
  const file = join(directory, 'stored.db')
  const driver = sqliteDriver({ file })
  await driver.open()
  return {
    driver,
    cpu: noCpu,
    // The log is reused, so it does not grow with the number of items.
    bytes: async () => statSync(file).size,
    async close() {
      await driver.dispose()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

async function openPostgresql(): Promise<OpenStore> {
  const server = await startBenchPostgresql()
  const driver = postgresqlDriver({ url: server.url })
  await driver.open()
  return {
    driver,
    cpu: server.cpu,
    bytes: async () => Number(await server.ask("SELECT pg_total_relation_size('grantry_items') AS answer")),
    async close() {
      await driver.dispose()
      await server.stop()
    },
  }
}

async function openRedis(): Promise<OpenStore> {
  const server = await startRedis({ arguments: ['--appendonly', 'yes', '--appendfsync', 'everysec'] })
  const driver = redisDriver({ url: server.url })
  await driver.open()
  return {
    driver,
    cpu: () => cpuOf(server.pid),
    bytes: async () => Number(/used_memory:(\d+)/u.exec(String(await server.command('info', 'memory')))?.[1]),
    async close() {
      await driver.dispose()
      await server.stop()
    },
  }
}

export const storeKinds: readonly StoreKind[] = [
  { name: 'memory', open: openMemory },
  { name: 'filesystem', open: openFiles },
  { name: 'sqlite', open: openSqlite },
  { name: 'postgresql', missing: postgresqlMissing, open: openPostgresql },
  { name: 'redis', missing: redisMissing, open: openRedis },
]
