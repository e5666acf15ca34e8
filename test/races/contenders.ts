import { type ChildProcess, fork } from 'node:child_process'
import { bundle } from '../support/bundle.ts'
import type { Order, Report, StoragePlace } from './orders.ts'

/** Processes that share a storage, each with a provider of its own. */
export interface Contenders {
  readonly count: number
  /** Rejects with the contender's error, or with what it wrote when it has died. */
  order<T>(index: number, order: Order): Promise<T>
  stop(): Promise<void>
}

interface Contender {
  send(order: Order): Promise<unknown>
  ready: Promise<unknown>
  stop(): Promise<void>
}

function contender(child: ChildProcess): Contender {
  const waiting = new Map<number, { resolve(result: unknown): void; reject(error: Error): void }>()
  let next = 0
  let errors = ''
  const expect = (id: number): Promise<unknown> =>
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
    child.once('error', (error) => {
      errors += error.message
    })
    child.once('close', (code, signal) => {
      for (const { reject } of waiting.values()) reject(new Error(`A contender ended (${code ?? signal}): ${errors}`))
      resolve()
    })
  })
  return {
    ready: expect(0),
    send(order) {
      next += 1
      const answer = expect(next)
      child.send({ id: next, order })
      return answer
    },
    async stop() {
      child.kill('SIGKILL')
      await ended
    },
  }
}

export async function startContenders(place: StoragePlace, keys: unknown, count: number): Promise<Contenders> {
  const program = await bundle(new URL('./programs/contender.ts', import.meta.url))
  const all = Array.from({ length: count }, () =>
    contender(fork(program, [JSON.stringify([place, keys])], { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] })),
  )
  const stop = async (): Promise<void> => {
    await Promise.all(all.map((each) => each.stop()))
  }
  try {
    await Promise.all(all.map(({ ready }) => ready))
  } catch (error) {
    await stop()
    throw error
  }
  return { count, order: (index, order) => all[index % count]?.send(order) as never, stop }
}
