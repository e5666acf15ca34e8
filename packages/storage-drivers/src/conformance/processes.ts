import { type ChildProcess, spawn } from 'node:child_process'
import { tooLate, within } from './moments.ts'

/** A method of a driver and its arguments. */
export type Call = readonly [
  method: 'getItem' | 'setItem' | 'insertItem' | 'incrementItem' | 'removeItem',
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
  /**
   * Disposes of the driver and waits for the process to exit. Resolves to `false` when it did not exit and was killed.
   */
  end(): Promise<boolean>
  /** Kills the process with SIGKILL, as the system does when memory runs out. */
  kill(): Promise<void>
}

/** Time limit for a process to start, and for each batch of calls, in seconds. */
const limit = 20

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
// The parent process is gone.
process.on('disconnect', () => ending || process.exit(1))
process.on('message', async ({ id, calls, at = 0, serial, end }) => {
  if (end) {
    ending = true
    await driver.dispose?.()
    return process.disconnect()
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

async function bounded<T>(operation: Promise<T>, what: string): Promise<T> {
  const outcome = await within(operation, limit)
  if (outcome === tooLate) throw new Error(`a child process did not ${what} within ${limit} s`)
  return outcome
}

function connect(child: ChildProcess): DriverProcess & { readonly ready: Promise<unknown> } {
  const waiting = new Map<number, { resolve(outcomes: readonly Outcome[]): void; reject(error: Error): void }>()
  let said = ''
  child.stderr?.on('data', (data) => {
    said = `${said}${data}`.slice(-2000)
  })
  const fail = (why: string): void => {
    for (const { reject } of waiting.values()) reject(new Error(why))
    waiting.clear()
  }
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => {
      fail(`a child process exited: ${said.trim()}`)
      resolve()
    })
  })
  child.on('message', ({ id, outcomes = [] }: Message) => {
    waiting.get(id)?.resolve(outcomes)
    waiting.delete(id)
  })
  child.on('error', ({ message }) => fail(`a child process cannot be reached: ${message}`))
  const answerTo = (id: number): Promise<readonly Outcome[]> =>
    new Promise((resolve, reject) => {
      waiting.set(id, { resolve, reject })
    })
  let last = 0
  return {
    ready: bounded(answerTo(0), 'start'),
    perform(calls, { at, serial } = {}) {
      last += 1
      const answer = answerTo(last)
      child.send({ id: last, calls, at, serial })
      return bounded(answer, 'complete its calls')
    },
    async end() {
      if (child.connected) child.send({ end: true })
      if ((await within(ended, 5)) !== tooLate) return true
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
