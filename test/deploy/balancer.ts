import { once } from 'node:events'
import { Agent, createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pause } from '../support/pause.ts'

/** Milliseconds between health checks. The proxy in compose.yaml checks every 2 seconds. */
const interval = 100

/** A proxy that behaves like the Caddyfile, except that it does not retry with a second server. */
export interface Balancer {
  readonly url: string
  /** The health states of each server in order, without repetitions. */
  readonly health: ReadonlyMap<string, readonly number[]>
  /** The number of requests sent to each server. */
  readonly sent: ReadonlyMap<string, number>
  stop(): Promise<void>
}

const healthOf = (url: string): Promise<number> =>
  fetch(`${url}/health/ready`).then(
    ({ status }) => status,
    // Not reachable.
    () => 0,
  )

/** Starts a proxy that alternates between the servers that are ready. */
export async function startBalancer(urls: readonly string[]): Promise<Balancer> {
  const agent = new Agent({ keepAlive: true })
  const health = new Map<string, number[]>(urls.map((url) => [url, []]))
  const sent = new Map<string, number>(urls.map((url) => [url, 0]))
  const send = async (url: string): Promise<void> => {
    const seen = health.get(url) ?? []
    const status = await healthOf(url)
    if (seen.at(-1) !== status) seen.push(status)
  }
  await Promise.all(urls.map(send))
  let stopped = false
  const watch = async (url: string): Promise<void> => {
    while (!stopped) {
      await send(url)
      await pause(interval)
    }
  }
  const watching = urls.map(watch)

  let turn = 0
  const server = createServer((incoming, reply) => {
    const ready = urls.filter((url) => health.get(url)?.at(-1) === 200)
    const url = ready[turn++ % ready.length]
    if (url === undefined) {
      reply.writeHead(502).end()
      return
    }
    sent.set(url, (sent.get(url) ?? 0) + 1)
    // Replaces the value of the client.
    const headers = { ...incoming.headers, 'x-forwarded-for': incoming.socket.remoteAddress ?? '' }
    const { method = 'GET', url: path = '/' } = incoming
    const outgoing = request(new URL(path, url), { method, headers, agent }, (response) => {
      reply.writeHead(response.statusCode ?? 502, response.headers)
      response.pipe(reply)
    })
    outgoing.once('error', () => {
      if (!reply.headersSent) reply.writeHead(502)
      reply.end()
    })
    incoming.pipe(outgoing)
  })
  // Saves CPU on a small machine. The proxy is not under test.
  server.keepAliveTimeout = 60_000
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    health,
    sent,
    async stop() {
      stopped = true
      await Promise.all(watching)
      server.closeAllConnections()
      server.close()
      agent.destroy()
      await once(server, 'close')
    },
  }
}
