import { type OperationName, presentation } from '../operations.ts'
import { newSetting, publicKeyOf } from '../setting.ts'
import type { StartStore, StoreCall } from './bench-store.ts'
import type { Generator } from './generator.ts'
import { tokensFor } from './present-tokens.ts'
import type { Launch, ServerProcess } from './server-process.ts'
import { startSlowPath } from './slow-path.ts'

/** What one request causes in the store, without other requests that could share its commands. */
export interface Trips {
  /** Commands or statements of the server. A script counts once. */
  readonly sent: number
  /** Including those in scripts. */
  readonly executed: number
  /** Round trips in sequence: commands that are sent together count once. */
  readonly trips: number
}

/** Delays what is sent to the store by this many milliseconds. */
const delay = 20

/** Requests per server. Their median counts. */
const requests = 5

/**
 * Counts the calls and trips of a request. What a server sends together reaches the store together; what it sends after
 * a reply arrives later by at least the delay. So each pause of half the delay between two calls is a new trip, on a busy
 * machine too. A call that is sent after the response counts as well.
 */
export function countTrips(calls: readonly StoreCall[]): Trips {
  const times = calls.map(({ time }) => time).sort((first, second) => first - second)
  const pauses = times.filter((time, index) => time - (times[index - 1] ?? time) > delay / 2).length
  return {
    sent: calls.filter(({ inScript }) => !inScript).length,
    executed: calls.length,
    trips: calls.length === 0 ? 0 : pauses + 1,
  }
}

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0

/** Measures the calls and trips of one request, on a path to the store with latency. */
export async function measureTrips(
  operation: OperationName,
  servers: ReadonlyMap<string, Launch>,
  generator: Generator,
  startStore: StartStore,
): Promise<ReadonlyMap<string, Trips>> {
  const store = await startStore(1)
  const path = await startSlowPath(store)
  const setting = newSetting(operation, { storeUrl: path.url })
  const publicKey = publicKeyOf(setting)

  async function measure(name: string, server: ServerProcess): Promise<Trips> {
    let tokens = await tokensFor(server, operation, requests + 1)

    async function sendOne(): Promise<void> {
      const order = { operation, ports: [server.port], seconds: 0, tokens, connections: 1, publicKey }
      const figures = await generator.run(order)
      if (figures.failures > 0) throw new Error(`${name}, ${operation}: ${figures.firstFailure}`)
      if (presentation(operation) === 'rotated') tokens = figures.tokens
      else if (presentation(operation) === 'spent') tokens = tokens.slice(1)
    }

    // What happens only once, such as the first login of a user.
    await sendOne()
    path.setDelay(delay)
    const all: Trips[] = []
    while (all.length < requests) all.push(countTrips(await store.watch(sendOne, 3 * delay)))
    const of = (figure: keyof Trips): number => median(all.map((trips) => trips[figure]))
    return { sent: of('sent'), executed: of('executed'), trips: of('trips') }
  }

  const measured = new Map<string, Trips>()
  try {
    for (const [name, launch] of servers) {
      path.setDelay(0)
      const server = await launch(setting)
      try {
        measured.set(name, await measure(name, server))
      } finally {
        await server.stop()
      }
    }
    return measured
  } finally {
    await path.stop()
    await store.stop()
  }
}
