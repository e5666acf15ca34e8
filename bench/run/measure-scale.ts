import { cpus } from 'node:os'
import type { OperationName } from '../operations.ts'
import { newSetting, publicKeyOf } from '../setting.ts'
import { startBenchRedis } from './bench-redis.ts'
import type { Generator } from './generator.ts'
import type { Plan } from './measure-operation.ts'
import { tokensFor } from './present-tokens.ts'
import { type ServerProcess, startServer } from './server-process.ts'

/** Figures of several server processes on one Redis. Loads are shares of one core. */
export interface ScaleRound {
  readonly requestsPerSecond: number
  /** Of all servers together, and of the busiest one. */
  readonly serverLoad: number
  readonly busiestServer: number
  readonly redisLoad: number
  readonly generatorLoad: number
  /** Of everything else on the machine. */
  readonly otherLoad: number
}

/** Returns the idle seconds of all cores. */
const idle = (): number => cpus().reduce((sum, { times }) => sum + times.idle, 0) / 1000

/**
 * Measures server processes that share one Redis, without pinning them to cores: the kernel distributes them, as on a
 * machine of its own. The connections of the generator are spread over the processes.
 *
 * @throws Error when a response is wrong.
 */
export async function measureScale(
  operation: OperationName,
  processes: number,
  command: readonly string[],
  generator: Generator,
  plan: Plan,
): Promise<readonly ScaleRound[]> {
  const redis = await startBenchRedis()
  const setting = newSetting(operation, { storeUrl: redis.url })
  const servers: ServerProcess[] = []
  try {
    while (servers.length < processes) servers.push(await startServer(command, setting))
    const [first] = servers
    let tokens = first === undefined ? [] : await tokensFor(first, operation, plan.connections)

    async function round(seconds: number): Promise<ScaleRound> {
      const before = servers.map((server) => server.cpu())
      const [redisCpu, idleBefore] = [redis.cpu(), idle()]
      const figures = await generator.run({
        operation,
        ports: servers.map(({ port }) => port),
        seconds,
        tokens,
        connections: plan.connections,
        publicKey: publicKeyOf(setting),
      })
      if (figures.failures > 0) throw new Error(`${processes} processes, ${operation}: ${figures.firstFailure}`)
      if (figures.tokens.length > 0) tokens = figures.tokens
      const loads = servers.map((server, index) => (server.cpu() - (before[index] ?? 0)) / figures.seconds)
      const serverLoad = loads.reduce((sum, load) => sum + load, 0)
      const redisLoad = (redis.cpu() - redisCpu) / figures.seconds
      const { generatorLoad } = figures
      const busy = cpus().length - (idle() - idleBefore) / figures.seconds
      return {
        requestsPerSecond: figures.requests / figures.seconds,
        serverLoad,
        busiestServer: Math.max(...loads),
        redisLoad,
        generatorLoad,
        otherLoad: Math.max(0, busy - serverLoad - redisLoad - generatorLoad),
      }
    }

    // Each process compiles its own code.
    await round(plan.warmup * processes)
    const rounds: ScaleRound[] = []
    while (rounds.length < plan.rounds) rounds.push(await round(plan.seconds))
    return rounds
  } finally {
    await Promise.all(servers.map((server) => server.stop()))
    await redis.stop()
  }
}
