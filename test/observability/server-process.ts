import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll } from 'vitest'
import { listeningAddress } from '../support/listening.ts'
import { newDirectory, realServerProgram } from '../support/server-program.ts'

/** A real server in a separate process. */
export interface ServerProcess {
  readonly process: ChildProcess
  readonly address: string
  readonly output: { out: string; err: string }
  /** Resolves with the exit code, or the signal that ended it. */
  readonly ended: Promise<number | string | null>
}

/** Start options of a server process. */
export interface ServerStart {
  /** The working directory; a new one by default. */
  readonly home?: string
  readonly args?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
}

/** Starts a bundled command line (`serverProgram`) and waits until it logs its address. */
function startServerProcess(
  program: string,
  cwd: string,
  { args = [], environment = {} }: ServerStart,
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
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output.out += text
  })
  return new Promise((resolve, reject) => {
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      output.err += text
      const address = listeningAddress(output.err)
      if (address !== undefined) resolve({ process: child, address: `http://${address}`, output, ended })
    })
    void ended.then((how) => reject(new Error(`The server ended with ${how} before it listened:\n${output.err}`)))
  })
}

/** Server processes for the tests of one file, all from one bundle. None outlives its test. */
export function serverProcesses() {
  const directory = newDirectory()
  const running: ServerProcess[] = []
  let program = ''
  const newHome = (): string => mkdtempSync(join(directory, 'home-'))
  function endAll(): void {
    for (const { process } of running.splice(0)) process.kill('SIGKILL')
  }
  beforeAll(async () => {
    program = await realServerProgram()
  })
  afterEach(endAll)
  afterAll(() => {
    endAll()
    rmSync(directory, { recursive: true, force: true })
  })
  return {
    newHome,
    async start(how: ServerStart = {}): Promise<ServerProcess> {
      const server = await startServerProcess(program, how.home ?? newHome(), how)
      running.push(server)
      return server
    },
  }
}
