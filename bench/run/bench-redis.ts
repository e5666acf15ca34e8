import { spawnSync } from 'node:child_process'
import { Redis } from 'ioredis'
import { startRedis } from '../../test/support/redis-server.ts'
import { cpuOf } from './process-figures.ts'

/** A redis-server for the benchmark, without persistence, on a free loopback port. */
export interface BenchRedis {
  readonly url: string
  readonly port: number
  /** Returns how many commands it has executed, including those in transactions and scripts, without our own INFO. */
  commands(): Promise<number>
  /** Returns the CPU seconds of all its threads. */
  cpu(): number
  stop(): Promise<void>
}

/** @param core the core to run on; any by default */
export async function startBenchRedis(core?: number): Promise<BenchRedis> {
  const server = await startRedis()
  if (core !== undefined) spawnSync('taskset', ['-a', '-cp', String(core), String(server.pid)])
  const client = new Redis(server.url)
  return {
    url: server.url,
    port: server.port,
    async commands() {
      const statistics = await client.info('commandstats')
      let calls = 0
      for (const [, name, count] of statistics.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gmu)) {
        if (name !== 'info') calls += Number(count)
      }
      return calls
    },
    cpu: () => cpuOf(server.pid),
    async stop() {
      client.disconnect()
      await server.stop()
    },
  }
}
