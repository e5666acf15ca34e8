/**
 * Attack: a body in one-byte chunks. Six bytes on the wire became an object of 250 bytes, so 7 MB on 40 connections
 * took half a gigabyte, without any credentials. The memory of a connection must be proportional to the bytes of its
 * body, however they are framed, while the body is incomplete, unread or queued.
 */
import { connect, type Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { readResponses } from './raw-responses.ts'
import { head, host, inChunks } from './requests.ts'
import { describeServers } from './servers.ts'

const connections = 10
/** Below the body limit of 64 KiB, so that the size is not refused. */
const chunksOfOne = '1\r\nx\r\n'.repeat(20_000)
/**
 * Bytes that a connection may take: a body, twice while its buffer grows, and the runtime's own data. Measured with
 * three times the chunks: 90 to 300 KiB; 4,400 KiB before the fix.
 */
const most = 512 * 1024

const formType = 'Content-Type: application/x-www-form-urlencoded'
const post = (target: string): string => head(`POST ${target} HTTP/1.1`, host, formType, inChunks)
const never = head('GET /never HTTP/1.1', host)

/** Opens a connection, and adds it to `sockets`. Resolves when the text is written. */
function open(
  port: number,
  text: string,
  sockets: Socket[],
): Promise<{ readonly socket: Socket; received(): string; closed(): boolean }> {
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
    const sockets: Socket[] = []
    afterEach(() => {
      for (const socket of sockets.splice(0)) socket.destroy()
    })

    /** Sends the text on every connection. Returns the maximum memory per connection while the server received it. */
    async function hold(text: string) {
      await server().held()
      before ??= await server().held()
      const opened = await Promise.all(Array.from({ length: connections }, () => open(server().port, text, sockets)))
      let held = 0
      // The writes have ended, so the server reads at most the socket buffers, in a few turns of its event loop.
      for (let look = 0; look < 10; look += 1) held = Math.max(held, (await server().held()) - before)
      return { opened, perConnection: held / connections }
    }

    test('1.96 an incomplete body', async () => {
      const { opened, perConnection } = await hold(post('/connect/token') + chunksOfOne)
      expect(perConnection).toBeLessThan(most)
      // Every body was read completely: the response depends on its content.
      for (const { socket } of opened) socket.write('0\r\n\r\n')
      for (const { received } of opened) {
        await eventually(() => expect(received()).toContain('}'))
        expect(readResponses(received())).toMatchObject([{ status: 401 }])
      }
    })

    // Bun and Deno do not receive a body that their handler does not read.
    if (name !== 'node') return
    test.each([
      ['a body that its handler does not read', post('/never') + chunksOfOne],
      ['the body of a GET request', post('/never').replace('POST', 'GET') + chunksOfOne],
      ['the body of a queued request', never + post('/connect/token') + chunksOfOne],
    ])('1.96 %s', async (_, text) => {
      const { opened, perConnection } = await hold(text)
      expect(perConnection).toBeLessThan(most)
      expect(opened.filter(({ closed }) => closed())).toHaveLength(0)
    })

    test('1.96 closes a connection with many queued bodies', async () => {
      const complete = `${post('/connect/token')}${'1\r\nx\r\n'.repeat(15_000)}0\r\n\r\n`
      const { opened, perConnection } = await hold(never + complete.repeat(20))
      expect(perConnection).toBeLessThan(most)
      for (const { closed } of opened) await eventually(() => expect(closed()).toBe(true))
    })
  },
  { program: 'memory-server' },
)
