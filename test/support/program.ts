import { spawn } from 'node:child_process'

/** A program in its own process. */
export interface RunningProgram {
  readonly pid: number
  /** Standard output and standard error so far. */
  output(): { readonly out: string; readonly err: string }
  signal(name: NodeJS.Signals): void
  /** Its exit code, once it has ended by itself or by a signal. */
  readonly ended: Promise<number | null>
}

export interface ProgramOptions {
  readonly cwd: string
  readonly environment?: Readonly<Record<string, string>>
  /** Its standard input; empty by default. */
  readonly input?: string
}

/** Starts a program with the environment of the tests and the given additions. */
export function runProgram(
  [command = '', ...parameters]: readonly string[],
  { cwd, environment, input = '' }: ProgramOptions,
): RunningProgram {
  const child = spawn(command, parameters, {
    cwd,
    env: { ...process.env, NO_COLOR: '1', ...environment },
  })
  let out = ''
  let err = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text
  })
  child.stdin.end(input)
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  return { pid: child.pid ?? 0, output: () => ({ out, err }), signal: (name) => child.kill(name), ended }
}
