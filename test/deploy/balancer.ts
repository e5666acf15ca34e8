import { once } from 'node:events'
import { Agent, createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** Milliseconds between two questions for the health of a server; the proxy of compose.yaml asks every 2 seconds. */
const interval = 100

/** A proxy in front of servers that does what the Caddyfile says, and less: it tries no second server. */
export interface Balancer {
  readonly url: string
  /** What each server has said of itself, in order, without repetitions. */
  readonly health: ReadonlyMap<string, readonly number[]>
  /** How many requests each server has got. */
  readonly sent: ReadonlyMap<string, number>
  stop(): Promise<void>
}

const healthOf = (url: string): Promise<number> =>
  fetch(`${url}/health/ready`).then(
    ({ status }) => status,
    // Nobody there.
    () => 0,
  )

/** Takes turns among the servers that say that they are ready. */
export async function startBalancer(urls: readonly string[]): Promise<Balancer> {
  const agent = new Agent({ keepAlive: true })
  const health = new Map<string, number[]>(urls.map((url) => [url, []]))
  const sent = new Map<string, number>(urls.map((url) => [url, 0]))
  const ask = async (url: string): Promise<void> => {
    const seen = health.get(url) ?? []
    const status = await healthOf(url)
    if (seen.at(-1) !== status) seen.push(status)
  }
  await Promise.all(urls.map(ask))
  let stopped = false
  const watch = async (url: string): Promise<void> => {
    while (!stopped) {
      await ask(url)
      await sleep(interval)
    }
  }
  const watching = urls.map(watch)

  let turn = 0
  const server = createServer((incoming, answer) => {
    const ready = urls.filter((url) => health.get(url)?.at(-1) === 200)
    const url = ready[turn++ % ready.length]
    if (url === undefined) {
      answer.writeHead(502).end()
      return
    }
    sent.set(url, (sent.get(url) ?? 0) + 1)
    // In place of what the client says of itself.
    const headers = { ...incoming.headers, 'x-forwarded-for': incoming.socket.remoteAddress ?? '' }
    const { method = 'GET', url: path = '/' } = incoming
    const outgoing = request(new URL(path, url), { method, headers, agent }, (response) => {
      answer.writeHead(response.statusCode ?? 502, response.headers)
      response.pipe(answer)
    })
    outgoing.once('error', () => {
      if (!answer.headersSent) answer.writeHead(502)
      answer.end()
    })
    incoming.pipe(outgoing)
  })
  // The machine is small, and the proxy is not what is tested.
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
