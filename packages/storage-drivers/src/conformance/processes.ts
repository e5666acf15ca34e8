import { type ChildProcess, spawn } from 'node:child_process'
import { tooLate, within } from './moments.ts'

/** An operation of a driver: the method and what it is called with. */
export type Call = readonly [
  method: 'getItem' | 'setItem' | 'insertItem' | 'incrementItem' | 'removeItem',
  ...values: unknown[],
]

/** What an operation answered in another process, or the message of its rejection. */
export interface Outcome {
  readonly value?: unknown
  readonly error?: string
}

/** A child process with a driver of its own. */
export interface DriverProcess {
  /** Performs the calls, side by side or one after the other. @param at milliseconds since the epoch: when it begins; default at once */
  perform(
    calls: readonly Call[],
    order?: { readonly at?: number; readonly serial?: boolean },
  ): Promise<readonly Outcome[]>
  /** Disposes of the driver and waits for the process to end by itself. `false`: something has kept it alive, and it was killed. */
  end(): Promise<boolean>
  /** Ends it in the middle of whatever it does, as the system does when memory runs out. */
  kill(): Promise<void>
}

/** Seconds for a process to start, to perform what it was told, and to end. */
const limit = 20

// Text, so that it runs where this file was bundled into another, and in a Node.js that does not read TypeScript. It only does what it is told:
// whatever is judged is judged here.
const programOf = (module: URL): string => `
import { open } from ${JSON.stringify(module.href)}
const driver = await open()
await driver.open?.()
const perform = async ([method, ...values]) => {
  try {
    const value = await driver[method](...values)
    return value instanceof Error ? { error: 'an Error was given as the value: ' + value.message } : { value: value ?? null }
  } catch (error) {
    return { error: String(error?.message ?? error) }
  }
}
let ending = false
// The parent is gone: nobody waits for anything any more.
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
      fail(`a child process has ended: ${said.trim()}`)
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
      return bounded(answer, 'do what it was told')
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

/** So many processes, each with the driver that the module opens. End each of them. */
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
