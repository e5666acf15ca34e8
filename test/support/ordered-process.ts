import { fork } from 'node:child_process'

/** A message of an ordered process; order 0 means that it is ready. */
type Report =
  | { readonly id: number; readonly result: unknown; readonly error?: undefined }
  | { readonly id: number; readonly error: string }

/** A process that carries out orders, each as soon as it arrives. */
export interface OrderedProcess<Order> {
  /** Rejects with the error of the process, or with its output when it has died. */
  order(order: Order): Promise<unknown>
  stop(): Promise<void>
}

function start<Order>(program: string, setting: unknown) {
  const child = fork(program, [JSON.stringify(setting)], { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] })
  const waiting = new Map<number, { resolve(result: unknown): void; reject(error: Error): void }>()
  let next = 0
  let errors = ''
  const responseOf = (id: number): Promise<unknown> =>
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
      for (const { reject } of waiting.values()) reject(new Error(`A process ended (${code ?? signal}): ${errors}`))
      resolve()
    })
  })
  const ordered: OrderedProcess<Order> = {
    order(order) {
      next += 1
      const response = responseOf(next)
      child.send({ id: next, order })
      return response
    },
    async stop() {
      child.kill('SIGKILL')
      await ended
    },
  }
  return { ordered, ready: responseOf(0) }
}

/** Starts so many concurrently, and resolves when all are ready; if one fails, stops all. */
export async function startOrderedProcesses<Order>(
  program: string,
  setting: unknown,
  count: number,
): Promise<readonly OrderedProcess<Order>[]> {
  const all = Array.from({ length: count }, () => start<Order>(program, setting))
  try {
    await Promise.all(all.map(({ ready }) => ready))
  } catch (error) {
    await Promise.all(all.map(({ ordered }) => ordered.stop()))
    throw error
  }
  return all.map(({ ordered }) => ordered)
}

/** The other end, in the program: reports that it is ready, and ends with its parent. */
export function takeOrders<Order>(carryOut: (order: Order) => Promise<unknown>): void {
  const report = (message: Report): void => {
    process.send?.(message)
  }
  process.on('message', ({ id, order }: { readonly id: number; readonly order: Order }) => {
    carryOut(order).then(
      (result) => report({ id, result }),
      (error: unknown) => report({ id, error: String(error instanceof Error ? error.stack : error) }),
    )
  })
  process.once('disconnect', () => process.exit(0))
  report({ id: 0, result: 'ready' })
}
