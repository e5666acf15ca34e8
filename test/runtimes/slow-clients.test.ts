/**
 * Attack: clients that hold connections open, with a body that stalls, one that arrives byte by byte, or one over the
 * limit that continues after the response. The adapters for Bun and Deno respond in time and close the connection. A
 * failure shows no details.
 */
import { connect, type Socket } from 'node:net'
import { basic } from '@grantry/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Program, startProgram } from '../contract/program.ts'
import { exchange, parseResponse, type ReceivedResponse } from '../contract/response.ts'
import { bytesOf } from '../contract/wire-request.ts'
import { bundle } from '../support/bundle.ts'
import { eventually, lastResort } from '../support/eventually.ts'
import { web } from '../support/fixture.ts'
import { describeWithRuntime, runtimeExecutable } from '../support/runtime-describe.ts'

const form = 'grant_type=client_credentials&scope=api1'

const post = (length: number | 'chunked'): string =>
  [
    'POST /connect/token HTTP/1.1',
    'Host: x',
    `Authorization: ${basic(web)}`,
    'Content-Type: application/x-www-form-urlencoded',
    length === 'chunked' ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`,
    '',
    '',
  ].join('\r\n')

/** Opens a connection and collects what it receives. The test must destroy it. */
function open(port: number) {
  const socket: Socket = connect(port, '127.0.0.1')
  const parts: Buffer[] = []
  let closed = false
  socket.on('data', (part) => parts.push(part))
  socket.on('error', () => {})
  socket.on('close', () => {
    closed = true
  })
  const isClosed = (): boolean => closed
  const received = (): string => Buffer.concat(parts).toString('latin1')
  return {
    socket,
    isClosed,
    received,
    /** Waits for the response but not for the end of the connection. */
    async response(): Promise<ReceivedResponse> {
      await eventually(() => expect(received()).toContain('}'))
      return parseResponse(Buffer.concat(parts))
    },
    ended: () => eventually(() => expect(isClosed()).toBe(true)),
  }
}

/** Sends bytes to the system, or notices that the connection is closed. */
const sent = (socket: Socket, bytes: string): Promise<unknown> =>
  new Promise((resolve) => {
    socket.write(bytes, resolve)
  })

const runtimes = [
  { name: 'bun', closesLate: true, parameters: [] },
  // Deno keeps a connection open while its body is incomplete, even after the response (measured: also when the body is
  // cancelled).
  { name: 'deno', closesLate: false, parameters: ['run', '--allow-net', '--allow-env', '--no-config'] },
] as const

for (const { name, closesLate, parameters } of runtimes) {
  describeWithRuntime(`@grantry/adapters/${name}`, runtimeExecutable(`.bin/${name}`), () => {
    const start = async (requestTimeout: number): Promise<Program> => {
      const script = await bundle(new URL(`./programs/limited-${name}.ts`, import.meta.url))
      return startProgram(runtimeExecutable(`.bin/${name}`), [...parameters, script, `${requestTimeout}`])
    }
    const send = (target: string) => exchange(program.port, bytesOf({ target }, 'x'))
    let program: Program
    let patient: Program

    beforeAll(async () => {
      program = await start(1)
      patient = await start(lastResort / 1000)
    })
    afterAll(() => Promise.all([program, patient].map((each) => each?.stop())))

    test('a body that stalls gets 408', async () => {
      const connection = open(program.port)
      connection.socket.write(post(100) + form)
      expect(await connection.response()).toMatchObject({
        status: 408,
        body: '{"error":"invalid_request","error_description":"The request body did not arrive in time"}',
      })
      if (closesLate) await connection.ended()
      connection.socket.destroy()
    })

    test('a body that arrives byte by byte gets 408', async () => {
      const connection = open(program.port)
      connection.socket.write(post('chunked'))
      const trickle = setInterval(() => connection.socket.write('1\r\nx\r\n'), 100)
      expect((await connection.response().finally(() => clearInterval(trickle))).status).toBe(408)
      connection.socket.destroy()
    })

    test('reads a body that arrives in parts within the time limit', async () => {
      const connection = open(patient.port)
      await sent(connection.socket, post(form.length).replace('Host: x', 'Host: x\r\nConnection: close'))
      for (const part of form.match(/.{1,10}/gu) ?? []) await sent(connection.socket, part)
      expect((await connection.response()).status).toBe(200)
      connection.socket.destroy()
    })

    test('a client that keeps sending receives the 413', async () => {
      const connection = open(program.port)
      connection.socket.write(post('chunked'))
      const piece = `4000\r\n${'x'.repeat(0x4000)}\r\n`
      for (let count = 0; count < 200 && !connection.isClosed() && connection.socket.writable; count += 1) {
        await sent(connection.socket, piece)
      }
      connection.socket.end('0\r\n\r\n')
      expect((await connection.response()).status).toBe(413)
      await connection.ended()
    })

    test('when a handler throws, the response has no details and onError is called', async () => {
      const response = await send('/local/throws')
      expect(response).toMatchObject({ status: 500, body: '{"error":"server_error"}' })
      expect(response.headers.get('cache-control')).toBe('no-store')
    })

    test('the server still serves afterwards', async () => {
      expect((await send('/.well-known/jwks')).status).toBe(200)
      expect(program.console()).toBe('onError: hunter2\n')
    })

    test('close() refuses new connections, closes idle and unfinished ones, and lets the process exit', async () => {
      const idle = open(patient.port)
      idle.socket.write('GET /.well-known/jwks HTTP/1.1\r\nHost: x\r\n\r\n')
      const never = open(patient.port)
      never.socket.write('GET /local/never HTTP/1.1\r\nHost: x\r\n\r\n')
      const half = open(patient.port)
      half.socket.write('GET /local')
      await eventually(() => expect(idle.received()).not.toBe(''))
      await eventually(() => expect(patient.console()).toBe('waiting\n'))
      expect(await patient.stop()).toBe(0)
      expect(patient.console()).toBe('waiting\nclosed\n')
      for (const connection of [idle, never, half]) await connection.ended()
      await expect(exchange(patient.port, bytesOf({ target: '/' }, 'x'))).rejects.toThrow(/ECONNREFUSED/u)
    })
  })
}
