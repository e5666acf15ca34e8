import type { Slice, SliceFigures } from '../load/run-slice.ts'
import type { OperationName } from '../operations.ts'
import { newSetting } from '../setting.ts'
import type { Generator } from './generator.ts'
import { pinToCore } from './pin-to-core.ts'
import { type ServerProcess, startServer } from './server-process.ts'

/** The figures of one server in one slice of load. */
export interface Round {
  /** Correct responses only. */
  readonly requestsPerSecond: number
  /** Milliseconds. */
  readonly p50: number
  readonly p99: number
  /** CPU time of the server per request, in microseconds. */
  readonly cpu: number
  /** Share of their core that the server and the generator used, 0 to 1. */
  readonly serverLoad: number
  readonly generatorLoad: number
}

export interface ServerFigures {
  readonly server: string
  readonly operation: OperationName
  readonly rounds: readonly Round[]
  /** Resident bytes after all rounds. */
  readonly memory: number
  /** Responses until then. */
  readonly requests: number
  /** Milliseconds from the start of the process to its first response. */
  readonly startup: number
  readonly failures: number
  readonly firstFailure?: string | undefined
}

export interface Plan {
  readonly seconds: number
  readonly warmup: number
  readonly rounds: number
  readonly connections: number
}

interface Contender {
  readonly server: string
  readonly process: ServerProcess
  readonly rounds: Round[]
  tokens: readonly string[]
  requests: number
  failures: number
  firstFailure: string | undefined
  startup: number
}

/**
 * Measures one operation on several server processes. The servers are loaded one at a time, alternately, so that a
 * disturbance of the machine affects all of them.
 */
export async function measureOperation(
  operation: OperationName,
  servers: ReadonlyMap<string, readonly string[]>,
  generator: Generator,
  plan: Plan,
): Promise<readonly ServerFigures[]> {
  const setting = newSetting(operation, plan.connections)
  const { d, p, q, dp, dq, qi, ...publicKey } = setting.signingKey
  const contenders: Contender[] = []

  async function slice(contender: Contender, seconds: number, connections: number): Promise<SliceFigures> {
    const { process, tokens } = contender
    const order: Slice = { operation, port: process.port, seconds, tokens, connections, publicKey }
    const figures = await generator.run(order)
    contender.tokens = figures.tokens
    contender.requests += figures.requests
    contender.failures += figures.failures
    contender.firstFailure ??= figures.firstFailure
    return figures
  }

  async function round(contender: Contender): Promise<Round> {
    const before = contender.process.cpu()
    const figures = await slice(contender, plan.seconds, plan.connections)
    const used = contender.process.cpu() - before
    const right = figures.requests - figures.failures
    return {
      requestsPerSecond: right / figures.seconds,
      p50: figures.p50,
      p99: figures.p99,
      cpu: (used * 1e6) / right,
      serverLoad: used / figures.seconds,
      generatorLoad: figures.generatorLoad,
    }
  }

  try {
    for (const [server, command] of servers) {
      const process = await startServer(pinToCore(0, command), setting)
      const contender: Contender = {
        server,
        process,
        rounds: [],
        tokens: process.tokens,
        requests: 0,
        failures: 0,
        firstFailure: undefined,
        startup: 0,
      }
      contenders.push(contender)
      await slice(contender, 0, 1)
      contender.startup = performance.now() - process.startedAt
    }
    for (const contender of contenders) await slice(contender, plan.warmup, plan.connections)
    for (let count = 0; count < plan.rounds; count += 1) {
      for (const contender of contenders) contender.rounds.push(await round(contender))
    }
    return contenders.map(({ process, tokens: _, ...figures }) => ({
      ...figures,
      operation,
      memory: process.memory(),
    }))
  } finally {
    await Promise.all(contenders.map(({ process }) => process.stop()))
  }
}
