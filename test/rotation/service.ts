import { type ChildProcess, fork } from 'node:child_process'
import { bundle } from '../support/bundle.ts'
import type { Answers, Order, Report, Setting } from './orders.ts'

/** One process of the service. */
export interface Server {
  /** Rejects with the error of the process, or with what it wrote when it has died. */
  order<O extends Order>(order: O): Promise<Answers[O['what']]>
  stop(): Promise<void>
}

interface Asked {
  resolve(result: unknown): void
  reject(error: Error): void
}

function connected(child: ChildProcess): { readonly server: Server; readonly ready: Promise<unknown> } {
  const waiting = new Map<number, Asked>()
  let next = 0
  let errors = ''
  const expectAnswer = (id: number): Promise<unknown> =>
    new Promise((resolve, reject) => {
      waiting.set(id, { resolve, reject })
    })
  child.stderr?.on('data', (chunk: Buffer) => {
    errors = (errors + chunk.toString()).slice(-4000)
  })
  child.on('message', (report: Report) => {
    const asked = waiting.get(report.id)
    waiting.delete(report.id)
    if (report.error === undefined) asked?.resolve(report.result)
    else asked?.reject(new Error(report.error))
  })
  const ended = new Promise<void>((resolve) => {
    child.once('close', (code, signal) => {
      for (const { reject } of waiting.values()) reject(new Error(`A server ended (${code ?? signal}): ${errors}`))
      resolve()
    })
  })
  const server: Server = {
    order(order) {
      next += 1
      const answer = expectAnswer(next)
      child.send({ id: next, order })
      return answer as never
    },
    async stop() {
      child.kill('SIGKILL')
      await ended
    },
  }
  return { server, ready: expectAnswer(0) }
}

/** Starts them at the same moment: they also make the first keys together. */
export async function startService(setting: Setting, count: number): Promise<readonly Server[]> {
  const program = await bundle(new URL('./programs/rotating-server.ts', import.meta.url))
  const all = Array.from({ length: count }, () =>
    connected(fork(program, [JSON.stringify(setting)], { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] })),
  )
  try {
    await Promise.all(all.map(({ ready }) => ready))
  } catch (error) {
    await Promise.all(all.map(({ server }) => server.stop()))
    throw error
  }
  return all.map(({ server }) => server)
}
