import { type ChildProcess, spawn } from 'node:child_process'
import { lastResort } from '../support/eventually.ts'

/** A server in a child process that listens on loopback. */
export interface Program {
  readonly port: number
  /** Returns the console output without the line that announces the port. */
  console(): string
  /** Sends SIGTERM, and SIGKILL as a last resort. Resolves with the exit code, or `null` if a signal ended the process. */
  stop(): Promise<number | null>
}

/** The announcement of the port: our programs print a line, workerd writes an event to file descriptor 3. */
const announcement = /^listening on (\d+)\n|"event":"listen".*?"port":(\d+)\D/mu

/**
 * Starts a program and waits until it announces its port on standard output or file descriptor 3.
 *
 * @throws Error with the output of the program if it ends or does not announce a port.
 */
export async function startProgram(command: string, parameters: readonly string[]): Promise<Program> {
  const child: ChildProcess = spawn(command, parameters, { stdio: ['ignore', 'pipe', 'pipe', 'pipe'] })
  let written = ''
  let announced = ''
  let ended = false
  const end = new Promise<number | null>((resolve) => {
    child.once('close', resolve)
    child.once('error', (error) => {
      written += error.message
      resolve(null)
    })
  }).finally(() => {
    ended = true
  })
  const port = await new Promise<number>((resolve, reject) => {
    const fail = (why: string): void => reject(new Error(`${command} ${parameters.join(' ')} ${why}:\n${written}`))
    const timer = setTimeout(() => {
      child.kill('SIGKILL')
      fail(`did not listen within ${lastResort} ms`)
    }, lastResort)
    const read = (chunk: Buffer): void => {
      announced += chunk
      const [, ours, theirs] = announcement.exec(announced) ?? []
      if (ours === undefined && theirs === undefined) return
      clearTimeout(timer)
      resolve(Number(ours ?? theirs))
    }
    child.stdout?.on('data', read)
    child.stdio[3]?.on('data', read)
    child.stderr?.on('data', (chunk: Buffer) => {
      written += chunk
    })
    void end.then((code) => fail(`ended with ${code} before it listened`))
  })
  return {
    port,
    console: () => announced.replace(/^.*\n/u, '') + written,
    async stop() {
      if (!ended) child.kill('SIGTERM')
      const force = setTimeout(() => child.kill('SIGKILL'), lastResort)
      const code = await end
      clearTimeout(force)
      return code
    },
  }
}
