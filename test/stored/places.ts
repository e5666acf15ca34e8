import { execFileSync } from 'node:child_process'
import { chmodSync, copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sqliteDriver } from '@grantry/storage-drivers/sqlite'
import { Redis } from 'ioredis'
import pg from 'pg'
import { startPostgresql } from '../support/postgresql-server.ts'
import { startRedis } from '../support/redis-server.ts'
import { newDirectory } from '../support/server-program.ts'

/** A storage of one driver, which can be written into a file, and filled from it. */
export interface Place {
  /** The `storage` of a configuration. */
  readonly storage: object
  save(file: string): Promise<void>
  /** @param age milliseconds since the file was written. PostgreSQL compares `ends` with its own clock, so they are added */
  restore(file: string, age: number): Promise<void>
  close(): Promise<void>
}

const nothing = async (): Promise<void> => {}

async function filesystem(): Promise<Place> {
  const directory = join(newDirectory(), 'records')
  return {
    storage: { driver: 'filesystem', directory },
    async save(file) {
      execFileSync('tar', ['--sort=name', '-czf', file, '-C', directory, '.'])
    },
    async restore(file) {
      mkdirSync(directory, { mode: 0o700 })
      execFileSync('tar', ['-xzf', file, '-C', directory, '--no-same-owner'])
    },
    close: nothing,
  }
}

async function sqlite(): Promise<Place> {
  const database = join(newDirectory(), 'grantry.db')
  return {
    storage: { driver: 'sqlite', file: database },
    async save(file) {
      rmSync(file, { force: true })
      const driver = sqliteDriver({ file: database, operationTimeout: 60 })
      await driver.open()
      await driver.backup(file)
      await driver.dispose()
    },
    async restore(file) {
      copyFileSync(file, database)
      // git keeps no other modes than those of programs, and the driver refuses a file that others can read.
      chmodSync(database, 0o600)
    },
    close: nothing,
  }
}

async function redis(): Promise<Place> {
  const server = await startRedis()
  const client = new Redis(server.url)
  return {
    storage: { driver: 'redis', url: server.url },
    async save(file) {
      const keys = (await client.keys('*')).sort()
      const items = keys.map(async (key) => {
        const dump = await client.dumpBuffer(key)
        return [key, dump?.toString('base64'), await client.pttl(key)]
      })
      writeFileSync(file, `${JSON.stringify(await Promise.all(items), undefined, 1)}\n`)
    },
    async restore(file) {
      const items: readonly [string, string, number][] = JSON.parse(readFileSync(file, 'utf8'))
      for (const [key, dump, ttl] of items) await client.restore(key, Math.max(ttl, 0), Buffer.from(dump, 'base64'))
    },
    async close() {
      client.disconnect()
      await server.stop()
    },
  }
}

/** Not with pg_dump, which refuses servers that are newer than itself. */
async function postgresql(): Promise<Place> {
  const server = await startPostgresql()
  async function query(text: string, parameters: readonly unknown[] = []) {
    const client = new pg.Client({ connectionString: server.url })
    await client.connect()
    try {
      return (await client.query(text, [...parameters])).rows
    } finally {
      await client.end()
    }
  }
  return {
    storage: { driver: 'postgresql', url: server.url },
    async save(file) {
      const [{ name }] = await query("SELECT tablename AS name FROM pg_tables WHERE tablename LIKE '%_items'")
      const [{ options }] = await query('SELECT reloptions AS options FROM pg_class WHERE relname = $1', [name])
      const rows = await query(`SELECT encode(key, 'hex') AS key, value, ends::text FROM "${name}" ORDER BY key`)
      writeFileSync(file, `${JSON.stringify({ name, options, rows }, undefined, 1)}\n`)
    },
    async restore(file, age) {
      const { name, options, rows } = JSON.parse(readFileSync(file, 'utf8'))
      const columns = 'key bytea PRIMARY KEY, value text NOT NULL, ends timestamptz NOT NULL'
      await query(`CREATE TABLE "${name}" (${columns}) WITH (${options.join(', ')})`)
      await query(`CREATE INDEX "${name}_ends" ON "${name}" (ends)`)
      const items = "decode(item->>'key', 'hex'), item->>'value', (item->>'ends')::timestamptz + $2::interval"
      await query(`INSERT INTO "${name}" SELECT ${items} FROM json_array_elements($1::json) AS item`, [
        JSON.stringify(rows),
        `${age} milliseconds`,
      ])
    },
    close: () => server.stop(),
  }
}

/** Each driver, with the file in which its records are kept. */
export const places = {
  filesystem: { open: filesystem, file: 'filesystem.tar.gz' },
  sqlite: { open: sqlite, file: 'sqlite.db' },
  redis: { open: redis, file: 'redis.json' },
  postgresql: { open: postgresql, file: 'postgresql.json' },
} as const
