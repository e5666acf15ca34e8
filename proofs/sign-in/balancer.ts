import { once } from 'node:events'
import { createServer, type IncomingMessage, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

/** A reverse proxy on loopback without sticky sessions. */
export interface Balancer {
  readonly origin: string
  close(): Promise<void>
}

/**
 * Sends each request to the next server. A server that refuses the connection is skipped; a request that a server has
 * received and not answered completely gets 502.
 */
export async function startBalancer(ports: readonly number[]): Promise<Balancer> {
  let turn = 0

  async function answerOfNext(incoming: IncomingMessage, body: Buffer) {
    turn += 1
    const { method = 'GET', url: path = '/', headers } = incoming
    // A connection for each request: one that is kept could belong to a server that has been killed.
    const target = { host: '127.0.0.1', port: ports[turn % ports.length], agent: false, method, path }
    const outgoing = request({ ...target, headers: { ...headers, connection: 'close' } }).end(body)
    const failed = new Promise<never>((_, reject) => outgoing.on('error', reject))
    const answered = once(outgoing, 'response').then(async ([answer]: IncomingMessage[]) => ({
      status: answer?.statusCode ?? 502,
      headers: answer?.headers,
      body: await buffer(answer as IncomingMessage),
    }))
    return Promise.race([answered, failed])
  }

  async function answerOf(incoming: IncomingMessage) {
    const body = await buffer(incoming)
    for (const _ of ports) {
      try {
        return await answerOfNext(incoming, body)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ECONNREFUSED') break
      }
    }
    return { status: 502, headers: { connection: 'close' }, body: '' }
  }

  const server = createServer(async (incoming, response) => {
    const { status, headers, body } = await answerOf(incoming)
    response.writeHead(status, headers).end(body)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')

  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
