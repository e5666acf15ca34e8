/**
 * Attack: connections to a TLS server that stall in the handshake, in a request or between requests, and more connections
 * than the server allows. On every runtime, the adapter closes them in time.
 */
import { connect as connectPlain } from 'node:net'
import { type ConnectionOptions, connect } from 'node:tls'
import { expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { agentOf, describeTlsServers, get, settings, signed } from './tls-servers.ts'

/** Opens a connection and sends texts, the second after a response. */
function stall(port: number, text: string | readonly string[] | undefined, options: ConnectionOptions = {}) {
  const [first = '', second] = [text ?? []].flat()
  let received = ''
  let opened = (): void => {}
  const isOpen = new Promise<void>((resolve) => {
    opened = resolve
  })
  const socket =
    text === undefined
      ? connectPlain(port, '127.0.0.1', opened)
      : connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ...options }, () => {
          socket.write(first)
          opened()
        })
  socket.once('data', () => second !== undefined && socket.write(second))
  socket.on('data', (data) => {
    received += String(data)
  })
  socket.on('error', () => {})
  return {
    isOpen,
    send: (more: string) => socket.write(more),
    received: () => received,
    /** Resolves to what arrived, when the server has closed the connection. */
    closed: new Promise<string>((resolve) => socket.on('close', () => resolve(received))),
  }
}

describeTlsServers(({ port, start }) => {
  test('closes connections that stall', async () => {
    const head = 'GET / HTTP/1.1\r\nHost: x\r\n'
    const stalls = [
      ['without a handshake', undefined, ''],
      ['without a request', '', ''],
      ['with half a head', head, '408'],
      ['with half a body', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n{', ''],
      [
        'with half a body behind a request',
        `${head}\r\nPOST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n{`,
        '200',
      ],
      // The rest of the body follows the response.
      ['after a late body', [`${head}Content-Length: 6\r\n\r\nabc`, 'def'], '200'],
      ['idle after a response', `${head}\r\n`, '200'],
    ] as const
    const server = await start({ tls: settings, requestTimeout: 1, idleTimeout: 1 })
    // Once more if the machine was so busy that the first request did not arrive in time.
    const ends = stalls.map(([what, text, status]) =>
      eventually(async () => expect(await stall(server.port, text).closed, what).toContain(status)),
    )
    await Promise.all(ends)
  })

  test('closes connections that begin a request before the last response, and stall', async () => {
    const server = await start({ tls: settings, requestTimeout: 1, idleTimeout: 600 })
    const stalled = stall(server.port, 'GET /slow HTTP/1.1\r\nHost: x\r\n\r\n')
    await eventually(() => expect(server.console()).toContain('slow'))
    stalled.send('GET / HTTP/1.1\r\nHost: x\r\n')
    await get(server.port, undefined, agentOf(), '/release')
    expect(await stalled.closed).toContain('200')
  })

  test('serves several requests on one connection', async () => {
    const agent = agentOf({ keepAlive: true, maxSockets: 1 })
    for (const certificate of [signed, signed, signed]) {
      expect((await get(port(), certificate, agent)).clientCertificate?.verified).toBe(true)
    }
    agent.destroy()
  })

  test('closes connections over the limit', async () => {
    const server = await start({ tls: settings, maxConnections: 2 })
    const idle = [stall(server.port, ''), stall(server.port, '')]
    await Promise.all(idle.map(({ isOpen }) => isOpen))
    const first = Promise.race(idle.map(({ closed }) => closed.then(() => 'one of the first')))
    expect(await Promise.race([stall(server.port, '').closed.then(() => 'the last'), first])).toBe('the last')
    await server.stop()
    await Promise.all(idle.map(({ closed }) => closed))
  })

  test('ends idle connections and completes requests when it closes', async () => {
    const server = await start({ tls: settings })
    const idle = stall(server.port, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n')
    const withoutHandshake = stall(server.port, undefined)
    const slow = get(server.port, signed, agentOf(), '/slow')
    await withoutHandshake.isOpen
    await eventually(() => expect(idle.received()).toContain('200'))
    await eventually(() => expect(server.console()).toContain('slow'))
    await get(server.port, undefined, agentOf(), '/close')
    expect((await slow).clientCertificate?.verified).toBe(true)
    await Promise.all([idle.closed, withoutHandshake.closed])
    await eventually(() => expect(server.console()).toContain('closed'))
  })
})
