/**
 * Attack: many concurrent connections that begin a request and never complete it (slowloris), or keep it alive with
 * single bytes. The limit applies to the whole request, not to the time between two bytes.
 *
 * The servers allow 6 seconds for a request: less than the attackers send.
 */
import { beforeAll, describe, expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { chunkCases } from './cases/chunks.ts'
import { type Exchange, exchange, type Piece, response } from './exchange.ts'
import { expectCase, inside } from './framing-case.ts'
import { readResponses } from './raw-responses.ts'
import { chunks, form, host, inChunks, length, tokenRequest } from './requests.ts'
import { describeServers } from './servers.ts'

/** Sends a byte or line every 200 milliseconds, for twenty seconds. */
function* drops(beginning: string, drop: string): Generator<Piece> {
  yield beginning
  for (let time = 0; time < 100; time += 1) {
    yield 200
    yield drop
  }
}

const begin = `POST /connect/token HTTP/1.1\r\n${host}\r\n`
const announced = tokenRequest({ lengths: [length(1000)], body: form, keep: true })
const chunked = tokenRequest({ lengths: [inChunks], body: chunks(form).slice(0, -5), keep: true })

const stalls: readonly (readonly [name: string, send: () => Iterable<Piece>])[] = [
  ['in the request line', () => ['POST /conn']],
  ['in the headers', () => [begin]],
  ['in a header', () => [`${begin}Authorization: Bas`]],
  ['before the body', () => [announced.slice(0, -form.length)]],
  ['in the body', () => [announced]],
  ['in a chunk', () => [`${chunked}28\r\ngrant`]],
  ['before the last chunk', () => [chunked]],
  ['in the trailers', () => [`${chunked}0\r\nX-A`]],
  ['after a completed request', () => [tokenRequest({ keep: true }), response, begin]],
  ['byte by byte in the headers', () => drops(`${begin}X-A: `, 'x')],
  ['line by line in the headers', () => drops(begin, 'X-A: x\r\n')],
  ['byte by byte in the body', () => drops(announced, 'x')],
  ['chunk by chunk in the body', () => drops(chunked, '1\r\nx\r\n')],
  ['trailer by trailer', () => drops(`${chunked}0\r\n`, 'X-A: x\r\n')],
]

describeServers(
  'a request that stalls',
  (server) => {
    describe('ends in time, with or without a response', () => {
      // Concurrently, because each takes seconds.
      const under = new Map<string, Promise<Exchange>>()
      beforeAll(() => {
        for (const [name, send] of stalls) {
          under.set(name, exchange(server(), send(), server().differs(name) ? { seconds: 0.5 } : {}))
        }
      })

      test.each(stalls)('%s', async (name) => {
        const { text, end } = (await under.get(name)) ?? {}
        expect(text).not.toMatch(inside)
        if (server().differs(name)) return
        expect(end).not.toBe('open')
        const responses = readResponses(text ?? '')
        const [last] = name.startsWith('after') ? responses.slice(1) : responses
        // RFC 9110 section 15.5.9 defines 408 for this. The core responds with 400 to a body that it could not read.
        if (last !== undefined) expect([400, 408]).toContain(last.status)
      })
    })

    describe('sent without end', () => {
      beforeAll(() => server().issuedSince())
      test.each(chunkCases.filter(({ endsByTimeLimit }) => endsByTimeLimit))('$name', (framingCase) =>
        expectCase(server(), framingCase),
      )
    })

    test('does not block honest clients, even hundreds of times', async () => {
      await server().issuedSince()
      // A thousand handshakes would keep this process busy for seconds.
      const held = Array.from({ length: server().overTls ? 200 : 1000 }, (_, index) =>
        exchange(
          server(),
          [index % 2 === 0 ? begin : announced],
          server().differs('in the headers') ? { seconds: 2 } : {},
        ),
      )
      let attempts = 0
      for (let time = 0; time < 10; time += 1) {
        // Again if the machine was so busy that the request did not arrive in time.
        await eventually(async () => {
          attempts += 1
          const { text } = await exchange(server(), [tokenRequest()])
          expect(readResponses(text)).toMatchObject([{ status: 200 }])
        })
      }
      const ends = (await Promise.all(held)).map(({ end }) => end)
      if (!server().differs('in the headers')) expect(ends.filter((end) => end === 'open')).toHaveLength(0)
      const issued = await server().issuedSince()
      expect(issued.length).toBeGreaterThanOrEqual(10)
      expect(issued.length).toBeLessThanOrEqual(attempts)
      expect(server().warnings()).toBe('')
    })
  },
  { requestTimeout: 6 },
)
