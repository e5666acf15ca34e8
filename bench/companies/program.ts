import { spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { pinToCore } from '../run/pin-to-core.ts'
import { ask } from './ask.ts'

/** Time limit for a server to respond, in milliseconds. */
const timeLimit = 120_000

/** A program that was brought by hand, while it runs. */
export interface RunningProgram {
  readonly pid: number
  readonly startedAt: number
  stop(): Promise<void>
}

/** Starts a server, whose log goes to a file. @param core of the server, and of everything that it starts */
export function startProgram(
  command: readonly string[],
  logFile: string,
  env: Readonly<Record<string, string>> = {},
  core = 0,
): RunningProgram & { readonly ended: Promise<number | null> } {
  const log = openSync(logFile, 'a')
  const startedAt = performance.now()
  const [program = '', ...parameters] = pinToCore(core, command)
  // A group of its own, so that its children end with it.
  const child = spawn(program, parameters, {
    env: { ...process.env, ...env },
    stdio: ['ignore', log, log],
    detached: true,
  })
  closeSync(log)
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('close', resolve)
    child.once('error', reject)
  })
  const pid = child.pid ?? 0
  return {
    pid,
    startedAt,
    ended,
    async stop() {
      if (child.exitCode === null && child.signalCode === null) process.kill(-pid, 'SIGKILL')
      await ended
    },
  }
}

/** Runs a command to its end. @throws Error with its output when it fails. */
export async function runProgram(command: readonly string[], logFile: string): Promise<void> {
  const code = await startProgram(command, logFile).ended
  if (code !== 0)
    throw new Error(`${command.join(' ')} exited with ${code}\n${readFileSync(logFile, 'utf8').slice(-2000)}`)
}

/** Starts a server and waits until a path responds. @throws Error with its log when it does not. */
export async function startListening(
  command: readonly string[],
  logFile: string,
  port: number,
  path: string,
  env: Readonly<Record<string, string>> = {},
): Promise<RunningProgram> {
  const running = startProgram(command, logFile, env)
  let gone = false
  void running.ended.then(() => {
    gone = true
  })
  const responds = (): Promise<boolean> =>
    ask(port, `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`).then(
      ({ status }) => status === 200,
      () => false,
    )
  while (!(await responds())) {
    if (gone || performance.now() - running.startedAt > timeLimit) {
      await running.stop()
      throw new Error(`${command.join(' ')} does not respond\n${readFileSync(logFile, 'utf8').slice(-4000)}`)
    }
    await sleep(5)
  }
  return running
}
