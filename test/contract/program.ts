import { type ChildProcess, spawn } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { dirname } from 'node:path'

/** A program in a process of its own that listens on loopback. */
export interface Program {
  readonly port: number
  /** What it wrote to its console beside the line that tells its port. */
  console(): string
  /** Asks it to end, by force if it does not within five seconds; resolves with its exit code, `null` after a signal. */
  stop(): Promise<number | null>
}

const patience = 20_000

/** How a program tells its port: ours by a line, workerd by an event on a file descriptor of its own. */
const announcement = /^listening on (\d+)\n|"event":"listen".*?"port":(\d+)\D/mu

/**
 * Starts a program and waits until it has told its port on its standard output, or on file descriptor 3.
 *
 * @param script what `bundle` made; its directory goes with the program
 * @throws Error with what it wrote when it ends, or says nothing for 20 seconds.
 */
export async function startProgram(command: string, parameters: readonly string[], script: string): Promise<Program> {
  const child: ChildProcess = spawn(command, parameters, { stdio: ['ignore', 'pipe', 'pipe', 'pipe'] })
  let written = ''
  let told = ''
  let ended = false
  const end = new Promise<number | null>((resolve) => {
    child.once('close', resolve)
    child.once('error', (error) => {
      written += error.message
      resolve(null)
    })
  }).finally(() => {
    ended = true
    return rm(dirname(script), { recursive: true, force: true })
  })
  const port = await new Promise<number>((resolve, reject) => {
    const fail = (why: string): void => reject(new Error(`${command} ${parameters.join(' ')} ${why}:\n${written}`))
    const timer = setTimeout(() => {
      child.kill('SIGKILL')
      fail(`does not listen within ${patience} ms`)
    }, patience)
    const read = (chunk: Buffer): void => {
      told += chunk
      const [, ours, theirs] = announcement.exec(told) ?? []
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
    console: () => told.replace(/^.*\n/u, '') + written,
    async stop() {
      if (!ended) child.kill('SIGTERM')
      const force = setTimeout(() => child.kill('SIGKILL'), 5000)
      const code = await end
      clearTimeout(force)
      return code
    },
  }
}
