import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../..', import.meta.url))

/** A server in a process of its own, started as `npm start` does it. */
export interface RunningCommand {
  readonly process: ChildProcess
  /** Everything on standard output and standard error so far. */
  output(): { readonly out: string; readonly err: string }
  /** Sends a signal and resolves with the exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>
}

/**
 * Starts it and waits until it says that it listens.
 *
 * @param script what of `scripts/` starts it, with its own arguments
 */
export function startCommand(
  args: readonly string[],
  cwd = root,
  [script, ...own]: readonly string[] = ['start.js'],
): Promise<RunningCommand> {
  const child = spawn(process.execPath, [`${root}/scripts/${script}`, ...own, ...args], {
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
    child.stderr.on('data', (chunk: Buffer) => {
      err += chunk.toString()
    })
    child.stdout.on('data', (chunk: Buffer) => {
      out += chunk.toString()
      // The banner is one write, but a pipe may hand it over in parts: its last line tells that it is whole.
      if (/\/health\/ready/u.test(out)) resolve(running)
    })
    void ended.then((code) => reject(new Error(`The server ended with ${code} before it listened:\n${err}`)))
  })
}
