import { expect } from 'vitest'
import type { RawAnswer } from '../answers.ts'
import type { FramingCase } from '../framing-case.ts'
import { chunks, close, form, hiddenRequest, host, inChunks, length, tokenRequest } from '../requests.ts'

/** Bytes that a body may have: wire contract, section 1. */
const limit = 65_536
const whole = (bytes: number): string => `${form}&x=`.padEnd(bytes, 'a')
const announced = (bytes: number): string => tokenRequest({ lengths: [length(bytes)], body: whole(bytes), keep: true })

/** The caller can read why, and learns that the connection is over. */
function saysTooLarge(answers: readonly RawAnswer[]): void {
  const answer = answers.at(-1)
  expect(answer?.headers.get('connection')).toBe('close')
  expect(answer?.headers.get('cache-control')).toBe('no-store')
  expect(JSON.parse(answer?.body ?? '')).toMatchObject({ error: 'invalid_request' })
}

function* endlessly(beginning: string, piece: string): Generator<string> {
  yield beginning
  // An end all the same, so that a server that takes everything fails the test and not the machine.
  for (let sent = 0; sent < 64 * 1024 * 1024; sent += piece.length) yield piece
}
const largeChunk = chunks('x'.repeat(16_384)).slice(0, -5)
const inEndlessChunks = tokenRequest({ lengths: [inChunks], body: '', keep: true })

const tooLarge: readonly Omit<FramingCase, 'answers'>[] = [
  { name: 'one byte too many, announced', send: [announced(limit + 1)] },
  {
    name: 'one byte too many, in one chunk',
    send: [tokenRequest({ lengths: [inChunks], body: chunks(whole(limit + 1)), keep: true })],
  },
  { name: 'twenty times too many, announced', send: [announced(20 * limit)] },
  {
    name: 'twenty times too many, in one chunk',
    send: [tokenRequest({ lengths: [inChunks], body: chunks(whole(20 * limit)), keep: true })],
  },
  { name: 'announced and never sent', send: [tokenRequest({ lengths: [length(99_999_999)], body: '', keep: true })] },
  {
    name: 'announced and sent in pieces',
    send: [
      tokenRequest({ lengths: [length(limit + 100)], body: whole(1000), keep: true }),
      20,
      'x'.repeat(1000),
      20,
      'x'.repeat(limit),
    ],
  },
  {
    name: 'without an end, in small chunks',
    send: () => endlessly(inEndlessChunks, chunks('x'.repeat(50)).slice(0, -5)),
  },
  {
    name: 'without an end, in large chunks',
    send: () => endlessly(inEndlessChunks, largeChunk),
  },
  { name: 'too large, and a hidden request behind it', send: [announced(limit + 1), hiddenRequest] },
  {
    name: 'too large, with a hidden request in it',
    send: [
      tokenRequest({ lengths: [length(limit + hiddenRequest.length)], body: whole(limit) + hiddenRequest, keep: true }),
    ],
  },
]

/** A body over the limit gets a 413 that arrives, then the connection ends; others are served. */
export const bodyCases: readonly FramingCase[] = [
  { name: 'exactly the limit, announced', send: [tokenRequest({ body: whole(limit) })], answers: [[200]] },
  {
    name: 'exactly the limit, in chunks',
    send: [tokenRequest({ lengths: [inChunks], body: chunks(...(whole(limit).match(/.{1,1000}/gsu) ?? [])) })],
    answers: [[200]],
  },
  ...tooLarge.map((one): FramingCase => ({ ...one, answers: [[413]], check: saysTooLarge })),
  {
    name: 'a 413 in the middle ends the connection',
    send: [tokenRequest({ keep: true }), announced(limit + 1), hiddenRequest],
    answers: [[200, 413]],
    check: saysTooLarge,
  },
  {
    name: 'announced too large, and waiting for a 100, is refused without one',
    send: [tokenRequest({ lengths: [length(99_999_999)], body: '', keep: true, more: ['Expect: 100-continue'] })],
    answers: [[413], [100, 413]],
    check: saysTooLarge,
  },
  {
    name: 'refused for its type, and read all the same: the connection is good for another',
    send: [
      tokenRequest({ body: whole(limit - 100), keep: true }).replace('x-www-form-urlencoded', 'json'),
      tokenRequest(),
    ],
    answers: [[415, 200]],
  },
  {
    name: 'refused for its type and too large',
    send: [
      announced(20 * limit)
        .replace('x-www-form-urlencoded', 'json')
        .replace(host, `${host}\r\n${close}`),
    ],
    answers: [[413], [415]],
  },
  // What nobody asked for is not read for ever either.
  {
    name: 'without an end, of a wrong type',
    send: () => endlessly(inEndlessChunks.replace('x-www-form-urlencoded', 'json'), largeChunk),
    answers: [[413], [415]],
  },
  {
    name: 'without an end, for an endpoint that is none',
    send: () => endlessly(inEndlessChunks.replace('/connect/token', '/nothing'), largeChunk),
    answers: [[404], [413]],
  },
  {
    name: 'without an end, for a method that takes none',
    send: () => endlessly(inEndlessChunks.replace('POST /connect/token', 'GET /.well-known/jwks'), largeChunk),
    answers: [[200], [400], [413]],
  },
]
