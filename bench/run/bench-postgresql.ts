import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { dataFile, startPostgresql } from '../../test/support/postgresql-server.ts'
import type { BenchStore, StoreCall } from './bench-store.ts'
import { moveToCore } from './pin-to-core.ts'
import { childrenOf, cpuOf, cpuOfEnded } from './process-figures.ts'

// The shared buffers are the default of PostgreSQL; those of the tests are smaller.
const settings = ['shared_buffers=128MB', 'shared_preload_libraries=pg_stat_statements']

const countText = "SELECT sum(calls)::int AS answer FROM pg_stat_statements WHERE query NOT LIKE '%pg_stat_statements%'"

/** Messages of a client that perform a statement: Execute, or Query with a text. */
const performing: ReadonlySet<number> = new Set(['E', 'Q'].map((letter) => letter.charCodeAt(0)))

/** Returns a function that reads the bytes of one client connection and calls `onCall` for each statement. */
export function readCalls(onCall: () => void): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0)
  // The first message has a length, but no type.
  let isFirst = true
  return (chunk) => {
    rest = Buffer.concat([rest, chunk])
    for (;;) {
      const start = isFirst ? 0 : 1
      if (rest.length < start + 4) return
      const end = start + rest.readUInt32BE(start)
      if (rest.length < end) return
      if (!isFirst && performing.has(rest[0] ?? 0)) onCall()
      rest = rest.subarray(end)
      isFirst = false
    }
  }
}

/** A PostgreSQL for benchmarks. */
export interface BenchPostgresql extends BenchStore {
  /** Returns the column `answer` of the first row. */
  ask(sql: string): Promise<unknown>
  /** Performs a statement in another database. */
  askIn(database: string, sql: string): Promise<unknown>
  urlOf(database: string): string
}

/** Starts a PostgreSQL with the settings of the tests. @param core the core to run on; any by default */
export async function startBenchPostgresql(core?: number): Promise<BenchPostgresql> {
  const server = await startPostgresql({ settings })
  const pid = Number(readFileSync(dataFile(server, 'postmaster.pid'), 'utf8').split('\n')[0])
  // Its later processes inherit the core.
  if (core !== undefined) for (const each of [pid, ...childrenOf(pid)]) moveToCore(core, each)
  const client = new pg.Client(server.url)
  await client.connect()
  await client.query('CREATE EXTENSION pg_stat_statements')
  const ask = async (sql: string): Promise<unknown> => (await client.query(sql)).rows[0]?.answer
  let watched: StoreCall[] = []
  return {
    url: server.url,
    port: server.port,
    urlAt(port) {
      const url = new URL(server.url)
      url.port = String(port)
      return url.href
    },
    ask,
    askIn: (database, sql) => server.query(sql, undefined, database),
    urlOf: (database) => server.urlOf(database),
    calls: async () => Number(await ask(countText)),
    inspect: () => readCalls(() => watched.push({ time: performance.now(), inScript: false })),
    async watch(work, settled) {
      watched = []
      await work()
      await sleep(settled)
      return watched
    },
    cpu: () => childrenOf(pid).reduce((sum, each) => sum + cpuOf(each), cpuOf(pid) + cpuOfEnded(pid)),
    async stop() {
      await client.end()
      await server.stop()
    },
  }
}
