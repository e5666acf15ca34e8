/**
 * The Node adapter receives a body before its handler reads it, and applies backpressure to a large one. Whenever the
 * handler reads, and however the body is framed, it gets every byte in order. While the handler does not read, the
 * client cannot send without limit.
 */
import { connect, type Socket } from 'node:net'
import { serve } from '@grantry/adapters/node'
import { afterEach, expect, test } from 'vitest'

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

/** Starts a server whose handler waits at a gate before it reads the body, and echoes the body. */
async function gated() {
  let open: () => void = () => undefined
  const gate = new Promise<void>((resolve) => {
    open = resolve
  })
  const { port, close } = await serve({
    issuer: 'http://127.0.0.1',
    async fetch(request) {
      if (request.url.endsWith('/late')) await gate
      return new Response(request.url.endsWith('/never') ? 'unread' : await request.text())
    },
  })
  ends.push(() => close(0))
  return { port, open: () => open() }
}

function open(port: number, text: string) {
  const socket: Socket = connect(port, '127.0.0.1')
  ends.push(() => socket.destroy())
  let received = ''
  let isWritten = false
  socket.setEncoding('latin1').on('data', (data) => {
    received += data
  })
  socket.on('error', () => undefined)
  socket.write(text, () => {
    isWritten = true
  })
  const bodies = (): readonly (string | undefined)[] =>
    received
      .split('HTTP/1.1 200 OK')
      .slice(1)
      .map((response) => response.split('\r\n\r\n')[1])
  return { bodies, isWritten: () => isWritten }
}

const head = (path: string, ...more: string[]): string =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\n${more.join('\r\n')}\r\n\r\n`
const announced = (path: string, body: string): string => head(path, `Content-Length: ${body.length}`) + body
const inChunks = (path: string, body: string, size: number): string => {
  let all = head(path, 'Transfer-Encoding: chunked')
  for (let at = 0; at < body.length; at += size) {
    const piece = body.slice(at, at + size)
    all += `${piece.length.toString(16)}\r\n${piece}\r\n`
  }
  return `${all}0\r\n\r\n`
}
const text = (length: number): string =>
  Array.from({ length }, (_, index) => 'abcdefghijklmnopqrstuvwxyz'[index % 26]).join('')

test.each([
  ['small', 100, announced('/late', text(100))],
  ['in chunks of one byte', 20_000, inChunks('/late', text(20_000), 1)],
  ['larger than the receive window', 3_000_000, announced('/late', text(3_000_000))],
  ['larger, in chunks', 1_000_000, inChunks('/late', text(1_000_000), 1000)],
])('a body that is read late is complete: %s', async (_, length, request) => {
  const { port, open: openGate } = await gated()
  const caller = open(port, request + announced('/next', 'the next'))
  const first = open(port, announced('/other', 'another connection'))
  await expect.poll(first.bodies).toEqual(['another connection'])
  openGate()
  await expect.poll(() => caller.bodies().length).toBe(2)
  const [body, next] = caller.bodies()
  expect(body?.length).toBe(length)
  expect(body === text(length)).toBe(true)
  expect(next).toBe('the next')
})

test('applies backpressure to a client whose body is not read', async () => {
  const { port, open: openGate } = await gated()
  const body = 'x'.repeat(20_000_000)
  const caller = open(port, announced('/late', body))
  const otherCaller = open(port, announced('/other', 'another connection'))
  await expect.poll(otherCaller.bodies).toEqual(['another connection'])
  expect(caller.isWritten()).toBe(false)
  openGate()
  await expect.poll(caller.isWritten).toBe(true)
  await expect.poll(() => caller.bodies()[0]?.length).toBe(body.length)
})

test('queued bodies are complete, and unread ones do not block the next request', async () => {
  const { port, open: openGate } = await gated()
  const caller = open(
    port,
    announced('/late', 'first') +
      inChunks('/second', text(5000), 1) +
      inChunks('/never', text(5000), 10) +
      announced('/fourth', text(3000)) +
      announced('/last', ''),
  )
  openGate()
  await expect.poll(() => caller.bodies().length).toBe(5)
  expect(caller.bodies()).toEqual(['first', text(5000), 'unread', text(3000), ''])
})
