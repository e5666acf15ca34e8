import { Redis } from 'ioredis'
import { startRedis } from '../../test/support/redis-server.ts'
import type { BenchStore, StoreCall } from './bench-store.ts'
import { moveToCore } from './pin-to-core.ts'
import { cpuOf } from './process-figures.ts'

/** Starts a redis-server without persistence. @param core the core to run on; any by default */
export async function startBenchRedis(core?: number): Promise<BenchStore> {
  const server = await startRedis()
  if (core !== undefined) moveToCore(core, server.pid)
  const client = new Redis(server.url)
  return {
    url: server.url,
    port: server.port,
    urlAt: (port) => `redis://127.0.0.1:${port}`,
    // Including those in transactions and scripts.
    async calls() {
      const statistics = await client.info('commandstats')
      let calls = 0
      for (const [, name, count] of statistics.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gmu)) {
        if (name !== 'info') calls += Number(count)
      }
      return calls
    },
    // MONITOR slows Redis down.
    async watch(work) {
      const monitor = await client.monitor()
      try {
        const marker = `watched ${performance.now()}`
        const commands: StoreCall[] = []
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
