import { spawn } from 'node:child_process'
import { lastResort } from '../support/eventually.ts'

/** The exit and the complete output of a program. */
export interface Ending {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/**
 * Runs a server that is expected to end by itself.
 *
 * @param user the user of the process, where this process may choose; by default its own.
 */
export function endingOf(program: string, args: readonly string[], user?: number): Promise<Ending> {
  const child = spawn(process.execPath, [program, ...args], {
    cwd: '/',
    env: { ...process.env, GRANTRY_TEST_PARENT: String(process.pid) },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(user !== undefined && { uid: user, gid: user }),
  })
  let [out, err] = ['', '']
  child.stdout.on('data', (chunk) => {
    out += chunk
  })
  child.stderr.on('data', (chunk) => {
    err += chunk
  })
  const overdue = setTimeout(() => child.kill('SIGKILL'), lastResort)
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => {
      clearTimeout(overdue)
      resolve({ code, out, err })
    })
  })
}
