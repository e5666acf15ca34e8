/**
 * Attack: a body in chunks of one byte. Six bytes on the wire became an object of 250 bytes, so that 7 MB on 40 connections took half a gigabyte, without any credentials. The memory of a connection must follow the bytes of its body,
 * however they are framed, and wherever the body waits: for its end, for its handler, or for its turn on the connection.
 */
import { connect, type Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { readAnswers } from './answers.ts'
import { head, host, inChunks } from './requests.ts'
import { describeServers } from './servers.ts'

const connections = 10
/** Below the limit of a body, 64 KiB, so that nothing is refused for its size. */
const chunksOfOne = '1\r\nx\r\n'.repeat(60_000)
/** Bytes a connection may hold: a body, twice while its buffer grows, and what the runtime keeps of a connection. Measured: 90 to 300 KiB; 4,400 before. */
const most = 512 * 1024

const formType = 'Content-Type: application/x-www-form-urlencoded'
const post = (target: string): string => head(`POST ${target} HTTP/1.1`, host, formType, inChunks)
const never = head('GET /never HTTP/1.1', host)

const sockets: Socket[] = []
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy()
})

/** A connection; resolves when all of the text is on its way. */
function open(port: number, text: string): Promise<{ readonly socket: Socket; received(): string; closed(): boolean }> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' })
    sockets.push(socket)
    let all = ''
    socket.setEncoding('latin1').on('data', (data) => {
      all += data
    })
    const opened = { socket, received: () => all, closed: () => socket.closed }
    socket.on('error', () => undefined)
    socket.on('close', () => resolve(opened))
    socket.write(text, () => resolve(opened))
  })
}

describeServers(
  'memory of a connection',
  (server, name) => {
    let before: number | undefined

    /** Sends the text on every connection, and tells the most that a connection held while the server took it in. */
    async function hold(text: string) {
      await server().held()
      before ??= await server().held()
      const opened = await Promise.all(Array.from({ length: connections }, () => open(server().port, text)))
      let held = 0
      // The writes have ended, so at most the socket buffers are still to be read: a few turns of the server's loop.
      for (let look = 0; look < 10; look += 1) held = Math.max(held, (await server().held()) - before)
      return { opened, perConnection: held / connections }
    }

    test('1.96 a body that has not ended', { timeout: 120_000 }, async () => {
      const { opened, perConnection } = await hold(post('/connect/token') + chunksOfOne)
      expect(perConnection).toBeLessThan(most)
      // Every body was read to its end: the response is to its content.
      for (const { socket } of opened) socket.write('0\r\n\r\n')
      for (const { received } of opened) {
        await expect.poll(received, { timeout: 60_000 }).toContain('}')
        expect(readAnswers(received())).toMatchObject([{ status: 401 }])
      }
    })

    // Bun and Deno do not hand over what their handler does not ask for.
    if (name !== 'node') return
    test.each([
      ['a body whose handler does not read it', post('/never') + chunksOfOne],
      ['the body of a GET request', post('/never').replace('POST', 'GET') + chunksOfOne],
      ['a body that waits for its turn on the connection', never + post('/connect/token') + chunksOfOne],
    ])('1.96 %s', { timeout: 60_000 }, async (_, text) => {
      const { opened, perConnection } = await hold(text)
      expect(perConnection).toBeLessThan(most)
      expect(opened.filter(({ closed }) => closed())).toHaveLength(0)
    })

    test('1.96 many bodies that wait for their turn: the connection is closed', { timeout: 60_000 }, async () => {
      const whole = `${post('/connect/token')}${'1\r\nx\r\n'.repeat(15_000)}0\r\n\r\n`
      const { opened, perConnection } = await hold(never + whole.repeat(20))
      expect(perConnection).toBeLessThan(most)
      for (const { closed } of opened) await expect.poll(closed, { timeout: 10_000 }).toBe(true)
    })
  },
  'memory-server',
)
