import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { bundle } from '../../test/support/bundle.ts'
import type { Memory, OverloadKind, ServerOrder, ServerReport } from './kinds.ts'
import type { LoadOrder, LoadReport } from './load.ts'

/** The server under load, in its own process. */
export interface OverloadedServer {
  readonly port: number
  /** Peak RSS so far, in bytes. */
  peak(): number
  /** Memory after a forced garbage collection. */
  collected(): Promise<Memory>
  warnings(): string
  stop(): Promise<void>
}

export interface Processes {
  startServer(kind: OverloadKind): Promise<OverloadedServer>
  /** Sends the load from another process, so that it does not compete with the server for one event loop. */
  load(order: LoadOrder): Promise<LoadReport>
}

/** @throws Error with the output of the process when it exits before it sends the wanted message. */
async function output<T extends ServerReport | LoadReport>(
  child: ChildProcess,
  wanted: (message: T) => boolean,
  wrote: () => string,
): Promise<T> {
  const ended = once(child, 'exit').then(() => {
    throw new Error(`the process exited: ${wrote()}`)
  })
  const received = new Promise<T>((resolve) => {
    child.on('message', function listen(message: T) {
      if (!wanted(message)) return
      child.off('message', listen)
      resolve(message)
    })
  })
  return Promise.race([received, ended])
}

function start(program: string, parameters: readonly string[]): { child: ChildProcess; wrote: () => string } {
  const child = fork(program, parameters, {
    execArgv: ['--expose-gc'],
    env: { ...process.env, GRANTRY_TEST_PARENT: String(process.pid) },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  let errors = ''
  child.stderr?.on('data', (data) => {
    errors += data
  })
  return { child, wrote: () => errors }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

/** Bundles the two programs. */
export async function prepareProcesses(): Promise<Processes> {
  const [server, generator] = await Promise.all(
    ['overloaded-server', 'load-generator'].map((name) => bundle(new URL(`./programs/${name}.ts`, import.meta.url))),
  )
  if (server === undefined || generator === undefined) throw new TypeError('a program is missing')
  return {
    async startServer(kind) {
      const { child, wrote } = start(server, [kind])
      let peak = 0
      child.on('message', (message: ServerReport) => {
        if (message.type === 'memory') peak = Math.max(peak, message.memory.rss)
      })
      const listening = await output<ServerReport>(child, ({ type }) => type === 'listening', wrote)
      return {
        port: listening.type === 'listening' ? listening.port : 0,
        peak: () => peak,
        async collected() {
          const response = output<ServerReport>(child, ({ type }) => type === 'collected', wrote)
          child.send('collect' satisfies ServerOrder)
          const message = await response
          if (message.type !== 'collected') throw new TypeError('unexpected message from the server')
          return message.memory
        },
        warnings: wrote,
        stop: () => stop(child),
      }
    },
    async load(order) {
      const { child, wrote } = start(generator, [])
      try {
        const report = output<LoadReport>(child, () => true, wrote)
        child.send(order)
        return await report
      } finally {
        await stop(child)
      }
    },
  }
}
