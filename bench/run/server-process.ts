import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Issue, Issued, IssueOrder, Ready, Setting } from '../setting.ts'
import { cpuOf, memoryOf } from './process-figures.ts'

/** Time limit for a server to listen, in milliseconds. */
const timeLimit = 30_000

/** A server under test. */
export interface ServerProcess extends Ready {
  readonly pid: number
  /** Start time, by `performance.now()` of this process. */
  readonly startedAt: number
  /** Asks the server for tokens. One order at a time. */
  readonly issue: Issue
  /** Returns the CPU seconds of all its threads. */
  cpu(): number
  /** Returns the resident bytes. */
  memory(): number
  /** Kills the process and resolves when it has exited. */
  stop(): Promise<void>
}

/** Starts a server with settings. */
export type Launch = (setting: Setting) => Promise<ServerProcess>

/**
 * Starts a server and waits until it listens.
 *
 * @throws Error with its output when it exits instead.
 */
export async function startServer(command: readonly string[], setting: Setting): Promise<ServerProcess> {
  const startedAt = performance.now()
  const [program = '', ...parameters] = command
  const child = spawn(program, parameters, {
    env: { ...process.env, NODE_ENV: 'production', BENCH_SETTING: JSON.stringify(setting) },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  let [output, log] = ['', '']
  // A write after its exit; the missing line reports it.
  child.stdin.on('error', () => {})
  child.stderr.on('data', (chunk) => {
    log = (log + chunk).slice(-4000)
  })
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => resolve())
    child.once('error', (error) => {
      log += error.message
      resolve()
    })
  })
  let onLine: (line: string) => void = () => {}
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (line.startsWith('{')) onLine(line)
    else output = `${output}${line}\n`.slice(-4000)
  })

  /** Returns the next line of JSON. */
  const nextLine = <T>(what: string): Promise<T> =>
    new Promise((resolve, reject) => {
      const giveUp = (reason: string): void => {
        clearTimeout(timer)
        child.kill('SIGKILL')
        reject(new Error(`${command.join(' ')} ${reason}\n${output}${log}`))
      }
      const timer = setTimeout(() => giveUp(`did not ${what}`), timeLimit)
      onLine = (line) => {
        clearTimeout(timer)
        resolve(JSON.parse(line))
      }
      void ended.then(() => giveUp('exited'))
    })

  const { port } = await nextLine<Ready>('report that it listens')
  // `taskset` replaces itself with the program, so the id stays the same.
  const pid = child.pid ?? 0
  return {
    port,
    pid,
    startedAt,
    async issue(operation, count) {
      const order: IssueOrder = { operation, count }
      const issued = nextLine<Issued>('issue tokens')
      child.stdin.write(`${JSON.stringify(order)}\n`)
      return (await issued).tokens
    },
    cpu: () => cpuOf(pid),
    memory: () => memoryOf(pid),
    async stop() {
      child.kill('SIGKILL')
      await ended
    },
  }
}
