import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pause } from './pause.ts'

/** Server processes, each on its own port, that are killed and started as needed. */
export interface Fleet {
  readonly ports: readonly number[]
  /** The output of the servers, one file for each port. */
  readonly logs: readonly string[]
  start(port: number): void
  /** SIGKILL; resolves when the process is gone. */
  kill(port: number): Promise<void>
  killAll(): Promise<void>
  /** Resolves when the server on this port is ready. */
  ready(port: number): Promise<void>
}

/** Milliseconds that a server may take to start on a busy machine. */
const longestStart = 60_000

export function createFleet(deps: {
  /** Of all servers, or of the one on a port: servers of two versions. */
  readonly program: string | ((port: number) => string)
  readonly configuration: string | ((port: number) => string)
  readonly ports: readonly number[]
  readonly directory: string
  readonly environment: Readonly<Record<string, string>>
  /** Receives every exit: whether `kill` caused it, and its code or signal. */
  onExit?(wasKilled: boolean, how: string): void
}): Fleet {
  const { program, configuration, ports, directory, environment, onExit } = deps
  const running = new Map<number, { readonly child: ChildProcess; readonly gone: Promise<void>; killed: boolean }>()
  const logOf = (port: number): string => join(directory, `${port}.log`)
  const endOfLog = (port: number): string => readFileSync(logOf(port), 'utf8').slice(-2000)

  async function kill(port: number): Promise<void> {
    const server = running.get(port)
    if (server === undefined) return
    server.killed = true
    server.child.kill('SIGKILL')
    await server.gone
  }

  return {
    ports,
    logs: ports.map(logOf),
    kill,
    killAll: async () => {
      await Promise.all(ports.map(kill))
    },
    start(port) {
      const log = openSync(logOf(port), 'a')
      const of = (each: typeof program): string => (typeof each === 'string' ? each : each(port))
      const args = [of(program), 'serve', '--config', of(configuration), '--port', String(port)]
      const env = { ...process.env, ...environment, GRANTRY_TEST_PARENT: String(process.pid) }
      const child = spawn(process.execPath, args, { env, stdio: ['ignore', log, log] })
      closeSync(log)
      const gone = new Promise<void>((resolve) => {
        child.once('exit', (code, signal) => {
          onExit?.(server.killed, String(code ?? signal))
          running.delete(port)
          resolve()
        })
      })
      const server = { child, gone, killed: false }
      running.set(port, server)
    },
    async ready(port) {
      for (const end = Date.now() + longestStart; Date.now() < end; await pause(50)) {
        const response = await fetch(`http://127.0.0.1:${port}/health/ready`).catch(() => undefined)
        if (response?.status === 200) return
        if (!running.has(port)) throw new Error(`The server on port ${port} ended:\n${endOfLog(port)}`)
      }
      throw new Error(`The server on port ${port} was not ready in ${longestStart / 1000} s:\n${endOfLog(port)}`)
    },
  }
}
