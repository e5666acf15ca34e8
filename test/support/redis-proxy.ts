import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { RedisServer } from './redis-server.ts'

/** A path to a server on which connections can go dark, like a firewall that dropped them or a pulled cable. */
export interface RedisProxy {
  readonly port: number
  readonly url: string
  /** Existing connections stay open, but nothing gets through any more, either way. New connections work. */
  darken(): void
  /** Existing connections reach the server, but no reply comes back. */
  loseResponses(): void
  /** Breaks existing connections. */
  cut(): void
  stop(): Promise<void>
}

export async function startProxy(server: Pick<RedisServer, 'port'>): Promise<RedisProxy> {
  const pairs = new Set<readonly [Socket, Socket]>()
  const loseResponses = (): void => {
    for (const [near, far] of pairs) {
      far.unpipe(near)
      far.resume()
    }
  }
  const cut = (): void => {
    for (const sockets of pairs) for (const socket of sockets) socket.destroy()
    pairs.clear()
  }
  const listener = createServer((near) => {
    const far = connect({ port: server.port, host: '127.0.0.1' })
    pairs.add([near, far])
    near.pipe(far)
    far.pipe(near)
    for (const [socket, destination] of [
      [near, far],
      [far, near],
    ] as const) {
      socket.on('error', () => destination.destroy())
      socket.on('close', () => destination.destroy())
    }
  })
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const { port } = listener.address() as AddressInfo
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    darken() {
      for (const [near, far] of pairs) {
        near.unpipe(far)
        near.resume()
      }
      loseResponses()
    },
    loseResponses,
    cut,
    async stop() {
      cut()
      listener.close()
      await once(listener, 'close')
    },
  }
}
