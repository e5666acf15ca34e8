import { spawnSync } from 'node:child_process'
import { Redis } from 'ioredis'
import { startRedis } from '../../test/support/redis-server.ts'
import { cpuOf } from './process-figures.ts'

/** A command as MONITOR reports it. */
export interface WatchedCommand {
  /** Milliseconds. */
  readonly time: number
  /** A script called it; a client sent all others. */
  readonly inScript: boolean
}

/** A redis-server for the benchmark, without persistence, on a free loopback port. */
export interface BenchRedis {
  readonly url: string
  readonly port: number
  /** Returns how many commands it has executed, including those in transactions and scripts, without our own INFO. */
  commands(): Promise<number>
  /** Returns the commands of a piece of work. MONITOR slows Redis down. */
  watch(work: () => Promise<unknown>): Promise<readonly WatchedCommand[]>
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
    async watch(work) {
      const monitor = await client.monitor()
      try {
        const marker = `watched ${performance.now()}`
        const commands: WatchedCommand[] = []
        const seen = new Promise<void>((resolve) => {
          monitor.on('monitor', (time: string, words: readonly string[], source: string) => {
            if (words[1] === marker) resolve()
            else commands.push({ time: Number(time) * 1000, inScript: source === 'lua' })
          })
        })
        await work()
        // Everything before it has been reported.
        await client.echo(marker)
        await seen
        return commands
      } finally {
        monitor.disconnect()
      }
    },
    cpu: () => cpuOf(server.pid),
    async stop() {
      client.disconnect()
      await server.stop()
    },
  }
}
