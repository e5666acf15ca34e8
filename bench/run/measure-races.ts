import type { OperationName } from '../operations.ts'
import { newSetting, publicKeyOf } from '../setting.ts'
import type { StartStore } from './bench-store.ts'
import type { Generator } from './generator.ts'
import { tokensFor } from './present-tokens.ts'
import type { Launch } from './server-process.ts'
import { startSlowPath } from './slow-path.ts'

/** Concurrent requests with the same token or code. */
export const racers = 20

/** How often they race. */
const races = 5

/** Milliseconds on the path to the store: a store without latency hides races, because each request finishes its turn. */
const latency = 5

/**
 * Returns for each server how many of the concurrent requests got tokens, in each race. Without the retry window, in
 * which a server returns the same response again.
 */
export async function measureRaces(
  operation: OperationName,
  servers: ReadonlyMap<string, Launch>,
  generator: Generator,
  startStore: StartStore,
): Promise<ReadonlyMap<string, readonly number[]>> {
  const store = await startStore(1)
  const path = await startSlowPath(store)
  const setting = newSetting(operation, { storeUrl: path.url, retryWindow: 0 })
  const winners = new Map<string, readonly number[]>()
  try {
    for (const [name, launch] of servers) {
      path.setDelay(0)
      const server = await launch(setting)
      try {
        const tokens = await tokensFor(server, operation, races)
        path.setDelay(latency)
        const counts: number[] = []
        for (const token of tokens.slice(0, races)) {
          const { requests, failures } = await generator.run({
            operation,
            ports: [server.port],
            // Each connection sends one request.
            seconds: 0,
            tokens: new Array(racers).fill(token),
            connections: racers,
            publicKey: publicKeyOf(setting),
          })
          counts.push(requests - failures)
        }
        winners.set(name, counts)
      } finally {
        await server.stop()
      }
    }
    return winners
  } finally {
    await path.stop()
    await store.stop()
  }
}
