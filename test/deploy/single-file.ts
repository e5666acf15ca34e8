import { execFile, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

export const root = fileURLToPath(new URL('../..', import.meta.url))

/** The built `grantry.mjs`; it is built first where it is older than its sources. */
export async function singleFile(): Promise<string> {
  await promisify(execFile)(process.execPath, [`${root}/scripts/start.js`, '--version'])
  return `${root}/packages/server/dist/grantry.mjs`
}

/** A program in a process of its own. */
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
  readonly arguments?: readonly string[]
}

/** Starts a program with the environment of the tests and what is given beside it. */
export function runProgram(
  [command = '', ...parameters]: readonly string[],
  { cwd, environment }: ProgramOptions,
): RunningProgram {
  const child = spawn(command, parameters, {
    cwd,
    env: { ...process.env, NO_COLOR: '1', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let out = ''
  let err = ''
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString()
  })
  child.stderr.on('data', (chunk: Buffer) => {
    err += chunk.toString()
  })
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  return { pid: child.pid ?? 0, output: () => ({ out, err }), signal: (name) => child.kill(name), ended }
}
