import type { Slice, SliceFigures } from '../load/run-slice.ts'
import { type OperationName, presentation } from '../operations.ts'
import { newSetting, publicKeyOf } from '../setting.ts'
import type { BenchStore } from './bench-store.ts'
import type { Generator } from './generator.ts'
import { tokensFor } from './present-tokens.ts'
import type { Launch, ServerProcess } from './server-process.ts'

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
  /** Share of the generator's core that the store used, its microseconds and its calls per request; 0 in memory. */
  readonly storeLoad: number
  readonly storeCpu: number
  readonly storeCalls: number
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

/** Seconds of load before each measured slice. */
const leadIn = 0.5

/** Codes for the first requests, which show how many are needed. */
const firstCodes = 500

interface Contender {
  readonly server: string
  readonly process: ServerProcess
  readonly rounds: Round[]
  tokens: readonly string[]
  requests: number
  failures: number
  firstFailure: string | undefined
  startup: number
  /** Requests per second in the last slice. */
  speed: number
}

/**
 * Measures one operation on several server processes. The servers are loaded one at a time, alternately, so that a
 * disturbance of the machine affects all of them.
 */
export async function measureOperation(
  operation: OperationName,
  servers: ReadonlyMap<string, Launch>,
  generator: Generator,
  plan: Plan,
  store?: BenchStore,
): Promise<readonly ServerFigures[]> {
  const setting = newSetting(operation, store && { storeUrl: store.url })
  const publicKey = publicKeyOf(setting)
  const spends = presentation(operation) === 'spent'
  const contenders: Contender[] = []

  /** Runs a slice whose tokens are prepared. */
  async function slice(contender: Contender, seconds: number, connections: number): Promise<SliceFigures> {
    const { process, tokens } = contender
    // The store runs on the core of the generator.
    const polls = store === undefined
    const order: Slice = { operation, ports: [process.port], seconds, tokens, connections, publicKey, polls }
    const figures = await generator.run(order)
    if (presentation(operation) === 'rotated') contender.tokens = figures.tokens
    contender.speed = figures.requests / figures.seconds
    contender.requests += figures.requests
    contender.failures += figures.failures
    contender.firstFailure ??= figures.firstFailure
    return figures
  }

  /** Issues the codes of the next slice; other tokens stay valid. */
  async function prepare(contender: Contender, seconds: number): Promise<void> {
    if (!spends) return
    const count = Math.max(firstCodes, Math.ceil(contender.speed * seconds * 1.3))
    contender.tokens = await tokensFor(contender.process, operation, count)
  }

  async function warmUp(contender: Contender): Promise<void> {
    // The first, short slice shows how many codes the others need.
    for (const seconds of spends ? [plan.warmup / 10, plan.warmup] : [plan.warmup]) {
      await prepare(contender, seconds)
      await slice(contender, seconds, plan.connections)
    }
  }

  async function round(contender: Contender): Promise<Round> {
    // While the others were measured, it was idle: V8 then frees memory and code, which costs the next requests.
    await prepare(contender, leadIn)
    await slice(contender, leadIn, plan.connections)
    await prepare(contender, plan.seconds)
    const calls = await store?.calls()
    const [cpu, storeCpu] = [contender.process.cpu(), store?.cpu() ?? 0]
    const figures = await slice(contender, plan.seconds, plan.connections)
    const [used, usedByStore] = [contender.process.cpu() - cpu, (store?.cpu() ?? 0) - storeCpu]
    const correct = figures.requests - figures.failures
    return {
      requestsPerSecond: correct / figures.seconds,
      p50: figures.p50,
      p99: figures.p99,
      cpu: (used * 1e6) / correct,
      serverLoad: used / figures.seconds,
      generatorLoad: figures.generatorLoad,
      storeLoad: usedByStore / figures.seconds,
      storeCpu: (usedByStore * 1e6) / correct,
      storeCalls: calls === undefined ? 0 : (((await store?.calls()) ?? 0) - calls) / figures.requests,
    }
  }

  try {
    for (const [server, launch] of servers) {
      const process = await launch(setting)
      const contender: Contender = {
        server,
        process,
        rounds: [],
        tokens: [],
        requests: 0,
        failures: 0,
        firstFailure: undefined,
        startup: 0,
        speed: 0,
      }
      contenders.push(contender)
      contender.tokens = await tokensFor(process, operation, plan.connections)
      await slice(contender, 0, 1)
      contender.startup = performance.now() - process.startedAt
    }
    for (const contender of contenders) await warmUp(contender)
    for (let count = 0; count < plan.rounds; count += 1) {
      for (const contender of contenders) contender.rounds.push(await round(contender))
    }
    return contenders.map(({ process, tokens: _tokens, speed: _speed, ...figures }) => ({
      ...figures,
      operation,
      memory: process.memory(),
    }))
  } finally {
    await Promise.all(contenders.map(({ process }) => process.stop()))
  }
}
