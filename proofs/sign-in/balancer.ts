import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A reverse proxy on loopback without sticky sessions. */
export interface Balancer {
  readonly origin: string
  close(): Promise<void>
}

/**
 * Sends each request to the next server. A server that refuses the connection is skipped; a request that a server has
 * received and not answered gets 502.
 */
export async function startBalancer(ports: readonly number[]): Promise<Balancer> {
  let turn = 0

  function forward(incoming: IncomingMessage, body: Buffer, response: ServerResponse, tries: number): void {
    turn += 1
    const { method = 'GET', url: path = '/', headers } = incoming
    // A connection for each request: one that is kept could belong to a server that has been killed.
    const target = { host: '127.0.0.1', port: ports[turn % ports.length], agent: false, method, path }
    const outgoing = request({ ...target, headers: { ...headers, connection: 'close' } }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
      answer.on('error', () => response.destroy())
    })
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED' && tries > 1) forward(incoming, body, response, tries - 1)
      else if (response.headersSent) response.destroy()
      else response.writeHead(502).end()
    })
    outgoing.end(body)
  }

  const server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk)
    forward(incoming, Buffer.concat(chunks), response, ports.length)
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
