import type { FramingCase } from '../framing-case.ts'
import { chunks, form, hiddenRequest, inChunks, tokenRequest } from '../requests.ts'

// RFC 9112 section 8: a server must not process an incomplete or malformed message. A response is optional.
const refused = [[400], []] as const
const tooLarge = [[400], [413], [431], []] as const
const size = form.length.toString(16)
const withBody = (body: string, keep = false): string => tokenRequest({ lengths: [inChunks], body, keep })
const head = withBody('')

function* endlessly(beginning: string, piece: string): Generator<string> {
  yield beginning
  // Limited, so that a server that accepts everything fails the test instead of exhausting the machine.
  for (let sent = 0; sent < 64 * 1024 * 1024; sent += piece.length) yield piece
}

/** RFC 9112 section 7.1: malformed chunks, and chunks with too much overhead. */
export const chunkCases: readonly FramingCase[] = [
  {
    name: 'a size with leading zeros',
    send: [withBody(`000${size}\r\n${form}\r\n0\r\n\r\n`)],
    responses: [[200], [400]],
  },
  {
    name: 'a last chunk of many zeros',
    send: [withBody(`${size}\r\n${form}\r\n000000\r\n\r\n`)],
    responses: [[200], [400]],
  },
  { name: 'an extension', send: [withBody(`${size};x=1\r\n${form}\r\n0\r\n\r\n`)], responses: [[200], [400]] },
  { name: 'a trailer', send: [withBody(`${size}\r\n${form}\r\n0\r\nX-A: x\r\n\r\n`)], responses: [[200], [400]] },
  // RFC 9110 section 6.5.1: a trailer must not carry credentials or message framing.
  {
    name: 'a trailer with other credentials',
    send: [withBody(`${size}\r\n${form}\r\n0\r\nAuthorization: Basic eDp5\r\n\r\n`)],
    responses: [[200], [400]],
  },
  {
    name: 'a trailer with a length',
    send: [withBody(`${size}\r\n${form}\r\n0\r\nContent-Length: 5\r\n\r\n`)],
    responses: [[200], [400]],
  },
  { name: 'a size that is not a number', send: [withBody(`zz\r\n${form}\r\n0\r\n\r\n`)], responses: refused },
  { name: 'a negative size', send: [withBody(`-1\r\n${form}\r\n0\r\n\r\n`)], responses: refused },
  { name: 'a size with a sign', send: [withBody(`+${size}\r\n${form}\r\n0\r\n\r\n`)], responses: refused },
  { name: 'a size with 0x', send: [withBody(`0x${size}\r\n${form}\r\n0\r\n\r\n`)], responses: refused },
  { name: 'a size after a space', send: [withBody(` ${size}\r\n${form}\r\n0\r\n\r\n`)], responses: refused },
  { name: 'a size with an underscore', send: [withBody(`2_8\r\n${form}\r\n0\r\n\r\n`)], responses: refused },
  {
    name: 'a size too large for a number',
    send: [withBody(`FFFFFFFFFFFFFFFFF\r\n${form}\r\n0\r\n\r\n`)],
    responses: [[400], [413], []],
  },
  {
    name: 'a size that overflows to a valid one',
    send: [withBody(`100000000000000${size.padStart(2, '0')}\r\n${form}\r\n0\r\n\r\n`)],
    responses: [[400], [413], []],
  },
  { name: 'no size', send: [withBody(`\r\n${form}\r\n0\r\n\r\n`)], responses: refused },
  { name: 'a size that is too small', send: [withBody(`3\r\n${form}\r\n0\r\n\r\n`)], responses: refused },
  { name: 'no line break after the data', send: [withBody(`${size}\r\n${form}0\r\n\r\n`)], responses: refused },
  {
    name: 'other bytes instead of the line break after the data',
    send: [withBody(`${size}\r\n${form}XX0\r\n\r\n`)],
    responses: refused,
  },
  { name: 'a bare LF after the size', send: [withBody(`${size}\n${form}\r\n0\r\n\r\n`)], responses: refused },
  { name: 'a bare LF after the data', send: [withBody(`${size}\r\n${form}\n0\r\n\r\n`)], responses: refused },
  { name: 'a bare CR after the size', send: [withBody(`${size}\r${form}\r\n0\r\n\r\n`)], responses: refused },
  { name: 'a bare LF in an extension', send: [withBody(`${size};x\n${form}\r\n0\r\n\r\n`)], responses: refused },
  {
    name: 'a bare LF in an extension hides a request',
    send: [withBody(`2;\n${size}\r\n${form}\r\n0\r\n\r\n${hiddenRequest}`, true)],
    responses: refused,
  },
  { name: 'a broken trailer', send: [withBody(`${size}\r\n${form}\r\n0\r\nbroken\r\n\r\n`)], responses: refused },
  {
    name: 'a truncated chunk',
    send: [withBody(`${size}\r\n${form.slice(0, 10)}`)],
    responses: [[400], []],
    afterwards: 'half-close',
  },
  {
    name: 'no last chunk',
    send: [withBody(`${size}\r\n${form}\r\n`)],
    responses: [[400], []],
    afterwards: 'half-close',
  },
  {
    name: 'unterminated trailers',
    send: [withBody(`${size}\r\n${form}\r\n0\r\n`)],
    responses: [[400], []],
    afterwards: 'half-close',
  },
  {
    name: 'a long extension',
    send: [withBody(`${size};${'x'.repeat(100_000)}\r\n${form}\r\n0\r\n\r\n`)],
    responses: tooLarge,
  },
  {
    name: 'long extensions on short chunks',
    send: [withBody(`${form.replace(/./gsu, `1;${'x'.repeat(1000)}\r\n$&\r\n`)}0\r\n\r\n`)],
    responses: [[200], ...tooLarge],
  },
  { name: 'an endless extension', send: () => endlessly(`${head}1;`, 'x'.repeat(4096)), responses: tooLarge },
  {
    name: 'an endless size',
    endsByTimeLimit: true,
    send: () => endlessly(head, '0'.repeat(4096)),
    responses: [...tooLarge, [408]],
  },
  {
    name: 'endless trailers',
    endsByTimeLimit: true,
    send: () => endlessly(`${head}0\r\n`, 'X-A: aaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n'.repeat(100)),
    responses: [[200], ...tooLarge, [408]],
  },
  {
    name: 'endless extensions on chunks of one byte',
    endsByTimeLimit: true,
    send: () => endlessly(head, `1;${'x'.repeat(1000)}\r\na\r\n`),
    responses: [...tooLarge, [408]],
  },
  { name: 'chunks after the last', send: [withBody(`${chunks(form)}${chunks(form)}`)], responses: [[200], [200, 400]] },
]
