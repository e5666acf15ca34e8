// Two servers behind deploy/nginx.conf are restarted one after the other, under load. nginx does not ask /health/ready: it
// learns by a failed request, and leaves that server alone for fail_timeout. The next restart waits until it is used again.
import { request } from 'node:https'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { serve } from '../../packages/adapters/src/http-bridge/serve.ts'
import { describeWithNginx } from '../server/nginx.ts'
import { until } from '../support/eventually.ts'
import { reservedPort } from '../support/reserved-port.ts'
import { startNginx } from './nginx-proxy.ts'

interface RestartedServer {
  readonly port: number
  /** Responses so far. */
  served(): number
  start(): Promise<void>
  stop(): Promise<void>
}

async function newServer(): Promise<RestartedServer> {
  const port = await reservedPort()
  let served = 0
  let running: Awaited<ReturnType<typeof serve>> | undefined
  const fetch = async (incoming: Request): Promise<Response> => {
    await incoming.text()
    served += 1
    return new Response('ok')
  }
  return {
    port,
    served: () => served,
    stop: async () => running?.close(),
    async start() {
      running = await serve('https://id.example.com', fetch, { port, trustedProxies: 1 })
    },
  }
}

const send = (port: number, method: string) =>
  new Promise<number>((resolve, reject) => {
    const outgoing = request({ host: '127.0.0.1', port, method, path: '/connect/token', rejectUnauthorized: false })
    outgoing.once('response', (response) => {
      response.resume()
      response.once('end', () => resolve(response.statusCode ?? 0))
    })
    outgoing.once('error', reject)
    outgoing.end(method === 'POST' ? 'grant_type=refresh_token' : undefined)
  })

describeWithNginx('a restart of two servers, one after the other, behind nginx', () => {
  let servers: readonly RestartedServer[]
  let nginx: Awaited<ReturnType<typeof startNginx>>

  beforeAll(async () => {
    servers = [await newServer(), await newServer()]
    for (const server of servers) await server.start()
    const change = (text: string): string => text.replace('fail_timeout=5s', 'fail_timeout=1s')
    const upstreams = servers.map(({ port }) => port)
    nginx = await startNginx({ upstreams, change }, async (port) => (await send(port, 'GET')) === 200)
  })
  afterAll(async () => {
    await nginx?.stop()
    for (const server of servers) await server.stop()
  })

  test('leaves no request without a response, if the second one waits until the first one is used again', async () => {
    const statuses = new Map<number, number>()
    let isOver = false
    const client = async (method: string): Promise<void> => {
      while (!isOver) {
        const status = await send(nginx.port, method).catch(() => 0)
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
      }
    }
    const load = Promise.all(['GET', 'POST', 'GET', 'POST'].map(client))
    for (const server of servers) {
      const before = server.served()
      await until('the server gets requests', () => server.served() > before + 10)
      await server.stop()
      const remaining = servers.find((candidate) => candidate !== server)
      const ofOther = remaining?.served() ?? 0
      await until('the other one gets all requests', () => (remaining?.served() ?? 0) > ofOther + 20)
      await server.start()
      const after = server.served()
      await until('nginx uses the server again', () => server.served() > after + 10)
    }
    isOver = true
    await load
    expect([...statuses.keys()], nginx.log()).toEqual([200])
    expect(statuses.get(200)).toBeGreaterThan(50)
  })
})
