import { spawn } from 'node:child_process'
import { root } from './running-command.ts'

/** How a command ended that is not a server. */
export interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** Runs `grantry <args>` in a process of its own, in this directory, with this on standard input. */
export function run(
  args: readonly string[],
  cwd: string,
  {
    input = '',
    script = [`${root}/scripts/start.js`],
    env = {},
  }: { input?: string; script?: readonly string[]; env?: Record<string, string> } = {},
): Promise<Ended> {
  const child = spawn(process.execPath, [...script, ...args], { cwd, env: { ...process.env, ...env } })
  let out = ''
  let err = ''
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString()
  })
  child.stderr.on('data', (chunk: Buffer) => {
    err += chunk.toString()
  })
  child.stdin.end(input)
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, out, err })))
}
