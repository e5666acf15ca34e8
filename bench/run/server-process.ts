import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { Ready, Setting } from '../setting.ts'

/** Linux reports CPU time in hundredths of a second (USER_HZ), regardless of the kernel timer. */
const ticksPerSecond = 100

/** Time limit for a server to listen, in milliseconds. */
const timeLimit = 30_000

/** A server under test. */
export interface ServerProcess extends Ready {
  /** Start time, by `performance.now()` of this process. */
  readonly startedAt: number
  /** Returns the CPU seconds of all its threads. */
  cpu(): number
  /** Returns the resident bytes. */
  memory(): number
  /** Kills the process and resolves when it has exited. */
  stop(): Promise<void>
}

function cpuOf(pid: number): number {
  // The program name, in parentheses, may contain spaces.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /u, '')
    .split(' ')
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond
}

const memoryOf = (pid: number): number =>
  Number(/VmRSS:\s*(\d+)/u.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024

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
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let [output, log] = ['', '']
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => resolve())
    child.once('error', (error) => {
      log += error.message
      resolve()
    })
  })
  const ready = await new Promise<Ready>((resolve, reject) => {
    const giveUp = (reason: string): void => {
      clearTimeout(timer)
      child.kill('SIGKILL')
      reject(new Error(`${command.join(' ')} ${reason}\n${output}${log}`))
    }
    const timer = setTimeout(() => giveUp('did not report that it listens'), timeLimit)
    child.stderr.on('data', (chunk) => {
      log = (log + chunk).slice(-4000)
    })
    child.stdout.on('data', (chunk) => {
      output += chunk
      const line = output.split('\n').find((text) => text.startsWith('{') && text.endsWith('}'))
      if (line === undefined) return
      clearTimeout(timer)
      resolve(JSON.parse(line))
    })
    void ended.then(() => giveUp('exited'))
  })
  // `taskset` replaces itself with the program, so the id stays the same.
  const pid = child.pid ?? 0
  return {
    ...ready,
    startedAt,
    cpu: () => cpuOf(pid),
    memory: () => memoryOf(pid),
    async stop() {
      child.kill('SIGKILL')
      await ended
    },
  }
}
