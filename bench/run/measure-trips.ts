import { type OperationName, presentation } from '../operations.ts'
import { newSetting, publicKeyOf } from '../setting.ts'
import { startBenchRedis, type WatchedCommand } from './bench-redis.ts'
import type { Generator } from './generator.ts'
import { tokensFor } from './present-tokens.ts'
import type { Launch, ServerProcess } from './server-process.ts'
import { startSlowPath } from './slow-path.ts'

/** What one request causes in Redis, without other requests that could share its commands. */
export interface Trips {
  /** Commands of the server. A script counts once. */
  readonly sent: number
  /** Including those in scripts. */
  readonly executed: number
  /** Round trips in sequence: commands that are sent together count once. */
  readonly trips: number
}

/** Delays what is sent to Redis by this many milliseconds. */
const delay = 20

/** Requests per server. Their median counts. */
const requests = 5

/**
 * Counts the commands and trips of a request. What a server sends together reaches Redis together; what it sends after
 * a reply arrives later by at least the delay. So each pause of half the delay between two commands is a new trip, on a
 * busy machine too. A command that is sent after the response counts as well.
 */
export function countTrips(commands: readonly WatchedCommand[]): Trips {
  const times = commands.map(({ time }) => time).sort((one, other) => one - other)
  const pauses = times.filter((time, index) => time - (times[index - 1] ?? time) > delay / 2).length
  return {
    sent: commands.filter(({ inScript }) => !inScript).length,
    executed: commands.length,
    trips: commands.length === 0 ? 0 : pauses + 1,
  }
}

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0

/** Measures the commands and trips of one request, on a path to Redis with latency. */
export async function measureTrips(
  operation: OperationName,
  servers: ReadonlyMap<string, Launch>,
  generator: Generator,
): Promise<ReadonlyMap<string, Trips>> {
  const redis = await startBenchRedis(1)
  const path = await startSlowPath(redis.port)
  const setting = newSetting(operation, { redisUrl: path.url })
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
    while (all.length < requests) all.push(countTrips(await redis.watch(sendOne)))
    const of = (figure: keyof Trips): number => median(all.map((one) => one[figure]))
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
    await redis.stop()
  }
}
