import { type ChildProcess, spawn } from 'node:child_process'
import { freePort } from '../support/free-port.ts'
import { examplesPath, searchPath } from './example-folders.ts'

/** An example that was started with the commands of its README. */
export interface RunningExample {
  readonly base: string
  /** Resolves when it has printed where it listens; rejects, with what it printed, when it ends before. */
  readonly ready: Promise<void>
  /** Ends it, and whatever it has started, as Ctrl-C would. Rejects when something of it goes on for 20 seconds; that is killed then. */
  stop(): Promise<void>
}

/** Signals the group that the shell leads; one that is gone already has nothing left to end. */
function signal({ pid }: ChildProcess, name: 'SIGTERM' | 'SIGKILL'): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

export async function startExample(commands: string, cwd = examplesPath): Promise<RunningExample> {
  const port = await freePort()
  const child = spawn('sh', ['-ec', commands], {
    cwd,
    env: { ...process.env, PATH: searchPath, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own: a shell passes no signal on to what it runs.
    detached: true,
  })
  let output = ''
  // Not `exit`: the pipes close when the last process that was started has ended.
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
    child.once('close', () => reject(new Error(`It ended without listening. It printed:\n${output}`)))
  })
  return {
    base: `http://127.0.0.1:${port}`,
    ready,
    async stop() {
      signal(child, 'SIGTERM')
      let timer: NodeJS.Timeout | undefined
      const deadline = new Promise<boolean>((resolve) => {
        timer = setTimeout(resolve, 20_000, true)
      })
      const goesOn = await Promise.race([ended.then(() => false), deadline])
      clearTimeout(timer)
      if (!goesOn) return
      signal(child, 'SIGKILL')
      throw new Error(`It goes on after SIGTERM. It printed:\n${output}`)
    },
  }
}
