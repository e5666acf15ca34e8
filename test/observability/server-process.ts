import { type ChildProcess, spawn } from 'node:child_process'

/** The real server in a process of its own. */
export interface ServerProcess {
  readonly process: ChildProcess
  readonly address: string
  readonly output: { out: string; err: string }
  /** Resolves with the exit code, or the signal that has ended it. */
  readonly ended: Promise<number | string | null>
}

/** Starts a bundled command line (`serverProgram`) and waits until it says where it listens. */
export function startServerProcess(
  program: string,
  cwd: string,
  args: readonly string[] = [],
  environment: Readonly<Record<string, string>> = {},
): Promise<ServerProcess> {
  const child = spawn(process.execPath, [program, 'serve', '--port', '0', ...args], {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...environment, GRANTRY_TEST_PARENT: String(process.pid) },
  })
  const output = { out: '', err: '' }
  const ended = new Promise<number | string | null>((resolve) => {
    child.once('close', (code, signal) => resolve(signal ?? code))
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output.err += text
  })
  return new Promise((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output.out += text
      const address = /listens on (\S+)\n/u.exec(output.out)?.[1]
      if (address !== undefined && output.out.includes('/health/ready')) {
        resolve({ process: child, address: `http://${address}`, output, ended })
      }
    })
    void ended.then((how) => reject(new Error(`The server ended with ${how} before it listened:\n${output.err}`)))
  })
}
