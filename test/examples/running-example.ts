import { type ChildProcess, spawn } from 'node:child_process'
import { lastResort } from '../support/eventually.ts'
import { reservedPort } from '../support/reserved-port.ts'
import { examplesPath, searchPath } from './example-folders.ts'

/** An example that was started with the commands of its README. */
export interface RunningExample {
  readonly base: string
  /** Resolves when it prints its port. Rejects with its output if it ends before that. */
  readonly ready: Promise<void>
  /** Sends SIGTERM to all its processes. After 20 seconds, kills the ones that still run and rejects. */
  stop(): Promise<void>
}

/** Sends a signal to the process group of the shell, if it still exists. */
function signal({ pid }: ChildProcess, name: 'SIGTERM' | 'SIGKILL'): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

export interface StartOptions {
  /** Default: the folder of the examples. */
  readonly cwd?: string
  readonly environment?: Readonly<Record<string, string>>
  /** Default: one that is free. */
  readonly port?: number
}

export async function startExample(commands: string, options: StartOptions = {}): Promise<RunningExample> {
  const { cwd = examplesPath, environment = {}, port = await reservedPort() } = options
  const child = spawn('sh', ['-ec', commands], {
    cwd,
    env: { ...process.env, ...environment, PATH: searchPath, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'pipe'],
    // Starts a process group, because a shell does not forward signals to its children.
    detached: true,
  })
  let output = ''
  // `close`, not `exit`: the pipes close when the last process of the group ends.
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const ready = new Promise<void>((resolve, reject) => {
    const address = new RegExp(`:${port}\\b`, 'u')
    const read = (chunk: Buffer) => {
      output += chunk.toString()
      if (address.test(output)) resolve()
    }
    child.stdout.on('data', read)
    child.stderr.on('data', (chunk: Buffer) => {
      output += chunk.toString()
    })
    child.once('error', reject)
    child.once('close', () => reject(new Error(`The example ended before it listened. Output:\n${output}`)))
  })
  return {
    base: `http://127.0.0.1:${port}`,
    ready,
    async stop() {
      signal(child, 'SIGTERM')
      let timer: NodeJS.Timeout | undefined
      const deadline = new Promise<boolean>((resolve) => {
        timer = setTimeout(resolve, lastResort, true)
      })
      const isRunning = await Promise.race([ended.then(() => false), deadline])
      clearTimeout(timer)
      if (!isRunning) return
      signal(child, 'SIGKILL')
      throw new Error(`The example still runs after SIGTERM. Output:\n${output}`)
    },
  }
}
