import { type ChildProcess, spawn } from 'node:child_process'
import { timedOut, withTimeout } from './timing.ts'

/** A method of a driver and its arguments. */
export type Call = readonly [
  method: 'getItem' | 'setItem' | 'insertItem' | 'incrementItem' | 'removeItem' | 'commit' | 'replaceItem',
  ...values: unknown[],
]

/** The result of an operation in another process, or the message of its rejection. */
export interface Outcome {
  readonly value?: unknown
  readonly error?: string
}

/** A child process with its own driver. */
export interface DriverProcess {
  /** Runs the calls, concurrently or in sequence. @param at start time in milliseconds since the epoch; default: now */
  perform(
    calls: readonly Call[],
    order?: { readonly at?: number; readonly serial?: boolean },
  ): Promise<readonly Outcome[]>
  /** Sends the calls. Resolves when the process has them, with the function that starts them. */
  prepare(calls: readonly Call[], order?: { readonly serial?: boolean }): Promise<() => Promise<readonly Outcome[]>>
  /**
   * Disposes of the driver and waits for the process to exit. Resolves to `false` when it did not exit and was killed.
   */
  end(): Promise<boolean>
  /** Kills the process with SIGKILL, as the system does when memory runs out. */
  kill(): Promise<void>
}

/** Time limit for a process to start, for each batch of calls, and for its end, in seconds: a last resort. */
const limit = 60

/** Exit code of a process that something kept alive after `dispose()`. */
const keptAlive = 75

// A string, so that it works in a bundle and in a Node.js without TypeScript support. It only runs calls; the checks
// are in the parent process.
const programOf = (module: URL): string => `
import { open } from ${JSON.stringify(module.href)}
const driver = await open()
await driver.open?.()
const perform = async ([method, ...values]) => {
  try {
    const value = await driver[method](...values)
    return value instanceof Error ? { error: 'an Error was returned as the value: ' + value.message } : { value: value ?? null }
  } catch (error) {
    return { error: String(error?.message ?? error) }
  }
}
let ending = false
// Five seconds in which this process has the processor: a busy machine is no fault of the driver. They keep nothing alive.
const exitIn = (steps) => setTimeout(() => (steps === 0 ? process.exit(${keptAlive}) : exitIn(steps - 1)), 100).unref()
const starts = new Map()
// The parent process is gone.
process.on('disconnect', () => ending || process.exit(1))
process.on('message', async ({ id, texts, calls: given, at = 0, serial, waits, start, end }) => {
  if (end) {
    ending = true
    exitIn(50)
    await driver.dispose?.()
    return process.disconnect()
  }
  if (start) return starts.get(start)()
  const calls = given.map((call) => call.map((value) => (typeof value === 'number' ? texts[value] : value)))
  if (waits) {
    const started = new Promise((resolve) => starts.set(id, resolve))
    process.send({ id: waits })
    await started
  }
  const early = at - Date.now()
  if (early > 0) await new Promise((resolve) => setTimeout(resolve, early))
  const outcomes = []
  if (serial) for (const call of calls) outcomes.push(await perform(call))
  else outcomes.push(...(await Promise.all(calls.map(perform))))
  process.send({ id, outcomes })
})
process.send({ id: 0 })
`

interface Message {
  readonly id: number
  readonly outcomes?: readonly Outcome[]
}

/** Replaces each text by its index in `texts`, because the same large values are sent many times. */
function packed(calls: readonly Call[]) {
  const indexes = new Map<unknown, number>()
  const indexOf = (text: string): number => {
    const index = indexes.get(text) ?? indexes.size
    indexes.set(text, index)
    return index
  }
  const indexed = calls.map((call) => call.map((value) => (typeof value === 'string' ? indexOf(value) : value)))
  return { calls: indexed, texts: [...indexes.keys()] }
}

async function withLimit<T>(operation: Promise<T>, what: string): Promise<T> {
  const outcome = await withTimeout(operation, limit)
  if (outcome === timedOut) throw new Error(`a child process did not ${what} within ${limit} s`)
  return outcome
}

function connect(child: ChildProcess): DriverProcess & { readonly ready: Promise<unknown> } {
  const pending = new Map<number, { resolve(outcomes: readonly Outcome[]): void; reject(error: Error): void }>()
  let stderr = ''
  child.stderr?.on('data', (data) => {
    stderr = `${stderr}${data}`.slice(-2000)
  })
  const fail = (why: string): void => {
    for (const { reject } of pending.values()) reject(new Error(why))
    pending.clear()
  }
  const ended = new Promise<number | null>((resolve) => {
    child.once('close', (code) => {
      fail(`a child process exited: ${stderr.trim()}`)
      resolve(code)
    })
  })
  child.on('message', ({ id, outcomes = [] }: Message) => {
    pending.get(id)?.resolve(outcomes)
    pending.delete(id)
  })
  child.on('error', ({ message }) => fail(`a child process cannot be reached: ${message}`))
  const responseTo = (id: number): Promise<readonly Outcome[]> =>
    new Promise((resolve, reject) => {
      pending.set(id, { resolve, reject })
    })
  let last = 0
  return {
    ready: withLimit(responseTo(0), 'start'),
    perform(calls, { at, serial } = {}) {
      last += 1
      const response = responseTo(last)
      child.send({ id: last, ...packed(calls), at, serial })
      return withLimit(response, 'complete its calls')
    },
    async prepare(calls, { serial } = {}) {
      last += 2
      const received = last - 1
      const id = last
      const arrival = responseTo(received)
      child.send({ id, ...packed(calls), serial, waits: received })
      await withLimit(arrival, 'receive its calls')
      return () => {
        const response = responseTo(id)
        child.send({ start: id })
        return withLimit(response, 'complete its calls')
      }
    },
    async end() {
      if (child.connected) child.send({ end: true })
      const code = await withTimeout(ended, limit)
      if (code !== timedOut) return code !== keptAlive
      child.kill('SIGKILL')
      await ended
      return false
    },
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
  }
}

/** Starts `count` processes, each with its own driver from the module. The caller must end them. */
export async function startProcesses(module: URL, count: number): Promise<readonly DriverProcess[]> {
  const processes = Array.from({ length: count }, () =>
    connect(
      spawn(process.execPath, ['--input-type=module', '--eval', programOf(module)], {
        stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      }),
    ),
  )
  try {
    await Promise.all(processes.map(({ ready }) => ready))
  } catch (error) {
    await Promise.all(processes.map((child) => child.kill()))
    throw error
  }
  return processes
}
