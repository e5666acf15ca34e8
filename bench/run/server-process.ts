import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { Ready, Setting } from '../setting.ts'

/** Linux counts CPU time in hundredths of a second (USER_HZ), whatever the kernel's own clock. */
const ticksPerSecond = 100

/** Milliseconds in which a server says that it listens. */
const patience = 30_000

/** A server under test. */
export interface ServerProcess extends Ready {
  /** Milliseconds on the clock of this process, when it was started. */
  readonly startedAt: number
  /** Seconds of CPU that all of its threads have used. */
  cpu(): number
  /** Bytes that are resident. */
  memory(): number
  /** Ends it, and resolves when it is gone. */
  stop(): Promise<void>
}

function cpuOf(pid: number): number {
  // The name of the program, in brackets, may hold spaces.
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
 * @throws Error with what it wrote when it ends instead.
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
    const timer = setTimeout(() => giveUp('does not say that it listens'), patience)
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
    void ended.then(() => giveUp('has ended'))
  })
  // `taskset` becomes the program: the id stays.
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
