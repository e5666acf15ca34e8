import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { listeningAddress } from '../support/listening.ts'

export const root = fileURLToPath(new URL('../..', import.meta.url))

/** A server in a separate process, started like `npm start`. */
export interface RunningCommand {
  readonly process: ChildProcess
  /** Everything on standard output and standard error so far. */
  output(): { readonly out: string; readonly err: string }
  /** Sends a signal and resolves with the exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>
}

export interface CommandOptions {
  /** The file in `scripts/` that starts it, with its own arguments. */
  readonly script?: readonly string[]
  /** Whether its standard output claims to be a terminal. */
  readonly terminal?: boolean
}

/** Starts the server and waits until it logs that it listens, and on a terminal for the banner, too. */
export function startCommand(
  args: readonly string[],
  cwd = root,
  { script: [script, ...ownArgs] = ['start.js'], terminal = false }: CommandOptions = {},
): Promise<RunningCommand> {
  const preloaded = terminal ? ['--import', pathToFileURL(`${root}/test/support/terminal.js`).href] : []
  const child = spawn(process.execPath, [...preloaded, `${root}/scripts/${script}`, ...ownArgs, ...args], {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let out = ''
  let err = ''
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  return new Promise((resolve, reject) => {
    const running: RunningCommand = {
      process: child,
      output: () => ({ out, err }),
      stop(signal = 'SIGTERM') {
        child.kill(signal)
        return ended
      },
    }
    const look = (): void => {
      // The banner is one write, but a pipe can deliver it in parts.
      if (listeningAddress(err) !== undefined && (!terminal || out.includes('/health/ready'))) resolve(running)
    }
    child.stderr.on('data', (chunk: Buffer) => {
      err += chunk.toString()
      look()
    })
    child.stdout.on('data', (chunk: Buffer) => {
      out += chunk.toString()
      look()
    })
    void ended.then((code) => reject(new Error(`The server ended with ${code} before it listened:\n${err}`)))
  })
}
