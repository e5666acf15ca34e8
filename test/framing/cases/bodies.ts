import { expect } from 'vitest'
import type { FramingCase } from '../framing-case.ts'
import type { RawResponse } from '../raw-responses.ts'
import { chunks, close, form, hiddenRequest, host, inChunks, length, tokenRequest } from '../requests.ts'

/** Maximum number of bytes in a body (wire contract, section 1). */
const limit = 65_536
const complete = (bytes: number): string => `${form}&x=`.padEnd(bytes, 'a')
const announced = (bytes: number): string =>
  tokenRequest({ lengths: [length(bytes)], body: complete(bytes), keep: true })

/** The response has a reason and `Connection: close`. */
function saysTooLarge(responses: readonly RawResponse[]): void {
  const response = responses.at(-1)
  expect(response?.headers.get('connection')).toBe('close')
  expect(response?.headers.get('cache-control')).toBe('no-store')
  expect(JSON.parse(response?.body ?? '')).toMatchObject({ error: 'invalid_request' })
}

function* endlessly(beginning: string, piece: string): Generator<string> {
  yield beginning
  // Limited, so that a server that accepts everything fails the test instead of exhausting the machine.
  for (let sent = 0; sent < 64 * 1024 * 1024; sent += piece.length) yield piece
}
const largeChunk = chunks('x'.repeat(16_384)).slice(0, -5)
const inEndlessChunks = tokenRequest({ lengths: [inChunks], body: '', keep: true })

const tooLarge: readonly Omit<FramingCase, 'responses'>[] = [
  { name: 'one byte over the limit, with a length', send: [announced(limit + 1)] },
  {
    name: 'one byte over the limit, in one chunk',
    send: [tokenRequest({ lengths: [inChunks], body: chunks(complete(limit + 1)), keep: true })],
  },
  { name: 'twenty times the limit, with a length', send: [announced(20 * limit)] },
  {
    name: 'twenty times the limit, in one chunk',
    send: [tokenRequest({ lengths: [inChunks], body: chunks(complete(20 * limit)), keep: true })],
  },
  {
    name: 'a length over the limit, without a body',
    send: [tokenRequest({ lengths: [length(99_999_999)], body: '', keep: true })],
  },
  {
    name: 'a length over the limit, sent in parts',
    send: [
      tokenRequest({ lengths: [length(limit + 100)], body: complete(1000), keep: true }),
      20,
      'x'.repeat(1000),
      20,
      'x'.repeat(limit),
    ],
  },
  {
    name: 'endless, in small chunks',
    send: () => endlessly(inEndlessChunks, chunks('x'.repeat(50)).slice(0, -5)),
  },
  {
    name: 'endless, in large chunks',
    send: () => endlessly(inEndlessChunks, largeChunk),
  },
  { name: 'too large, followed by a hidden request', send: [announced(limit + 1), hiddenRequest] },
  {
    name: 'too large, with a hidden request in it',
    send: [
      tokenRequest({
        lengths: [length(limit + hiddenRequest.length)],
        body: complete(limit) + hiddenRequest,
        keep: true,
      }),
    ],
  },
]

/** A body over the limit gets a complete 413, then the connection closes. Other bodies are accepted. */
export const bodyCases: readonly FramingCase[] = [
  { name: 'exactly the limit, with a length', send: [tokenRequest({ body: complete(limit) })], responses: [[200]] },
  {
    name: 'exactly the limit, in chunks',
    send: [tokenRequest({ lengths: [inChunks], body: chunks(...(complete(limit).match(/.{1,1000}/gsu) ?? [])) })],
    responses: [[200]],
  },
  ...tooLarge.map((message): FramingCase => ({ ...message, responses: [[413]], check: saysTooLarge })),
  {
    name: 'a pipelined 413 closes the connection',
    send: [tokenRequest({ keep: true }), announced(limit + 1), hiddenRequest],
    responses: [[200, 413]],
    check: saysTooLarge,
  },
  {
    name: 'a length over the limit, with Expect: 100-continue',
    send: [tokenRequest({ lengths: [length(99_999_999)], body: '', keep: true, more: ['Expect: 100-continue'] })],
    responses: [[413], [100, 413]],
    check: saysTooLarge,
  },
  {
    name: 'refused for its type: the body is discarded and the connection reused',
    send: [
      tokenRequest({ body: complete(limit - 100), keep: true }).replace('x-www-form-urlencoded', 'json'),
      tokenRequest(),
    ],
    responses: [[415, 200]],
  },
  {
    name: 'refused for its type and too large',
    send: [
      announced(20 * limit)
        .replace('x-www-form-urlencoded', 'json')
        .replace(host, `${host}\r\n${close}`),
    ],
    responses: [[413], [415]],
  },
  // A body that no handler reads must not be read indefinitely either.
  {
    name: 'endless, of a wrong type',
    send: () => endlessly(inEndlessChunks.replace('x-www-form-urlencoded', 'json'), largeChunk),
    responses: [[413], [415]],
  },
  {
    name: 'endless, for an unknown endpoint',
    send: () => endlessly(inEndlessChunks.replace('/connect/token', '/nothing'), largeChunk),
    responses: [[404], [413]],
  },
  {
    name: 'endless, for a method without a body',
    send: () => endlessly(inEndlessChunks.replace('POST /connect/token', 'GET /.well-known/jwks'), largeChunk),
    responses: [[200], [400], [413]],
  },
]
