/**
 * Attack: bodies over the limit (with a `Content-Length`, in chunks, or endless) that exhaust the memory. The opposite
 * mistake is a server that closes the connection so fast that an honest client sees a reset instead of the 413.
 *
 * RFC 9110 section 15.5.14: the server MAY close the connection to stop the request. RFC 9112 section 9.6: it closes in
 * stages, so that the last response is not lost.
 */
import { connect } from 'node:net'
import { type RunningServer, serve } from '@grantry/adapters/node'
import { basic } from '@grantry/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { lastResort } from '../support/eventually.ts'
import { fixture, web } from '../support/fixture.ts'

const limit = 65_536
const form = 'grant_type=client_credentials&scope=api1&x='
let server: RunningServer
beforeAll(async () => {
  server = await serve((await fixture()).provider)
})
afterAll(() => server.close(0))

const head = (...more: string[]): string =>
  [
    'POST /connect/token HTTP/1.1',
    'Host: x',
    `Authorization: ${basic(web)}`,
    'Content-Type: application/x-www-form-urlencoded',
    ...more,
    '',
    '',
  ].join('\r\n')
const chunk = (data: string): string => `${data.length.toString(16)}\r\n${data}\r\n`

interface Outcome {
  readonly response: string
  /** Whether the server closed the connection without a reset. */
  readonly ended: boolean
  readonly sent: number
}

/**
 * Writes the pieces as fast as the socket accepts them, until all are sent or the server closes.
 */
function send(pieces: Iterable<string>): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port: server.port, host: server.host, allowHalfOpen: true })
    const iterator = pieces[Symbol.iterator]()
    let response = ''
    let ended = false
    let sent = 0
    const timeout = setTimeout(() => {
      socket.destroy()
      reject(new Error(`connection still open; received: ${response}`))
    }, lastResort)
    const write = (): void => {
      while (!ended && !socket.destroyed) {
        const { done, value } = iterator.next()
        if (done) return
        sent += value.length
        if (!socket.write(value)) {
          socket.once('drain', write)
          return
        }
      }
    }
    socket.setEncoding('latin1')
    socket.on('connect', write)
    socket.on('data', (data) => {
      response += data
    })
    socket.on('end', () => {
      ended = true
      socket.end()
    })
    socket.on('error', () => undefined)
    socket.on('close', () => {
      clearTimeout(timeout)
      resolve({ response, ended, sent })
    })
  })
}

function* endless(piece: string): Generator<string> {
  yield head('Transfer-Encoding: chunked')
  for (;;) yield piece
}

function expectTooLarge({ response }: Outcome): void {
  expect(response).toMatch(/^HTTP\/1\.1 413 /u)
  expect(response).toMatch(/^connection: close\r$/imu)
  expect(response).toMatch(/^cache-control: no-store\r$/imu)
  expect(response).toContain('{"error":"invalid_request","error_description":"The body is too large"}')
  expect(response.match(/HTTP\/1\.1/gu)).toHaveLength(1)
}

const complete = (bytes: number): string => form + 'a'.repeat(bytes - form.length)

describe('a body over the limit gets a complete 413, and the connection closes', () => {
  test.each([limit + 1, 2 * limit, 20 * limit])('1.91 %i bytes with a Content-Length', async (bytes) => {
    for (let time = 0; time < 5; time += 1)
      expectTooLarge(await send([head(`Content-Length: ${bytes}`), complete(bytes)]))
  })

  test.each([limit + 1, 2 * limit, 20 * limit])('1.91 %i bytes in one chunk', async (bytes) => {
    for (let time = 0; time < 5; time += 1) {
      expectTooLarge(await send([head('Transfer-Encoding: chunked'), chunk(complete(bytes)), '0\r\n\r\n']))
    }
  })

  test('1.91 many small chunks', async () => {
    const pieces = Array.from({ length: 2000 }, () => chunk('x'.repeat(50)))
    for (let time = 0; time < 5; time += 1) expectTooLarge(await send([head('Transfer-Encoding: chunked'), ...pieces]))
  })

  test('1.91 a Content-Length over the limit without a body', async () => {
    expectTooLarge(await send([head('Content-Length: 99999999')]))
  })

  test('1.91 a Content-Length over the limit with Expect: 100-continue', async () => {
    const { response } = await send([head('Content-Length: 99999999', 'Expect: 100-continue')])
    expect(response).toContain('413')
  })
})

test('stops reading an endless body', async () => {
  const { response, sent } = await send(endless(chunk('x'.repeat(16_384))))
  expect(response).toMatch(/^HTTP\/1\.1 413 /u)
  // No more is sent than the socket buffers on both sides hold.
  expect(sent).toBeLessThan(64 * 1024 * 1024)
})

test('accepts a body of exactly the limit, with a Content-Length or in chunks', async () => {
  const announced = await send([head(`Content-Length: ${limit}`, 'Connection: close'), complete(limit)])
  const pieces = complete(limit).match(/.{1,1000}/gsu) ?? []
  const chunked = await send([
    head('Transfer-Encoding: chunked', 'Connection: close'),
    ...pieces.map(chunk),
    '0\r\n\r\n',
  ])
  for (const { response, ended } of [announced, chunked]) {
    expect(response).toMatch(/^HTTP\/1\.1 200 /u)
    expect(ended).toBe(true)
  }
})

test('after another refusal, a client can finish its body and reuse the connection', async () => {
  const text = complete(limit - 100)
  const refused = head(`Content-Length: ${text.length}`).replace('x-www-form-urlencoded', 'json') + text
  const good = head(`Content-Length: ${form.length}`, 'Connection: close') + form
  const { response } = await send([refused, good])
  expect([...response.matchAll(/HTTP\/1\.1 (\d+)/gu)].map(([, status]) => status)).toEqual(['415', '200'])
})
