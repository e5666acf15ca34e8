import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { BenchStore } from './bench-store.ts'

/** A path to a store whose latency can be set: a forwarder on loopback. */
export interface SlowPath {
  readonly url: string
  /** Delays everything that is sent to the store from now on by this many milliseconds. */
  setDelay(milliseconds: number): void
  stop(): Promise<void>
}

export async function startSlowPath({ port, urlAt, inspect }: BenchStore): Promise<SlowPath> {
  let milliseconds = 0
  const sockets = new Set<Socket>()
  const listener = createServer({ noDelay: true }, (near) => {
    const far = connect({ port, host: '127.0.0.1', noDelay: true })
    const see = inspect?.()
    const forward = (chunk: Buffer): void => {
      see?.(chunk)
      far.write(chunk)
    }
    far.pipe(near)
    near.on('data', (chunk) => {
      if (milliseconds === 0) return forward(chunk)
      // Timers of the same duration fire in their order, so the bytes keep theirs.
      setTimeout(() => forward(chunk), milliseconds)
    })
    for (const [socket, destination] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket)
      // A killed server resets its connections.
      socket.on('error', () => destination.destroy())
      socket.on('close', () => {
        sockets.delete(socket)
        destination.destroy()
      })
    }
  })
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  return {
    url: urlAt((listener.address() as AddressInfo).port),
    setDelay(next) {
      milliseconds = next
    },
    async stop() {
      for (const socket of sockets) socket.destroy()
      listener.close()
      await once(listener, 'close')
    },
  }
}
