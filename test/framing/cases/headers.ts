import { basic } from '@grantry/testing'
import type { FramingCase } from '../framing-case.ts'
import { close, form, get, head, hiddenRequest, host, length, outer, tokenRequest } from '../requests.ts'

const refused = [[400]] as const
const right = [[200]] as const
const tooLarge = [[400], [413], [431], []] as const
const withLines = (...more: string[]): string => tokenRequest({ more })

function* endlessly(beginning: string, piece: string): Generator<string> {
  yield beginning
  // Limited, so that a server that accepts everything fails the test instead of exhausting the machine.
  for (let sent = 0; sent < 64 * 1024 * 1024; sent += piece.length) yield piece
}
const unfinished = ['POST /connect/token HTTP/1.1', host, ''].join('\r\n')

/** RFC 9112 sections 2.2 and 5: line ends, folding, field syntax. RFC 6585 section 5: too many or too long fields. */
export const headerCases: readonly FramingCase[] = [
  { name: 'spaces around a value', send: [tokenRequest({ more: ['X-A: \t x \t '] })], responses: right },
  { name: 'names in another case', send: [tokenRequest().replace('Authorization', 'aUTHORIZATION')], responses: right },
  { name: 'an empty value', send: [withLines('X-A:')], responses: right },
  { name: 'bytes outside ASCII', send: [withLines('X-A: \u00e9\u00ff')], responses: [[200], [400]] },
  {
    name: 'header names like __proto__',
    send: [withLines('__proto__: x', 'constructor: y', 'toString: z')],
    responses: right,
  },
  // RFC 9112 section 2.2: a server should ignore an empty line before the request line.
  { name: 'an empty line before the request line', send: ['\r\n', tokenRequest()], responses: [[200], [400]] },
  // RFC 9112 section 5.2: a server responds with 400 or replaces each fold with spaces.
  { name: 'a folded line', send: [withLines('X-A: a', ' b')], responses: [[200], [400]] },
  { name: 'a folded Authorization', send: [tokenRequest().replace('Basic ', 'Basic\r\n ')], responses: [[200], [400]] },
  {
    name: 'a folded Content-Length',
    send: [tokenRequest({ lengths: ['Content-Length:', ` ${form.length}`] })],
    responses: [[200], [400]],
  },
  { name: 'a fold before every line', send: [tokenRequest({ hosts: [` ${host}`] })], responses: refused },
  { name: 'a NUL in a value', send: [withLines('X-A: a\u0000b')], responses: refused },
  { name: 'a NUL in a name', send: [withLines('X\u0000A: a')], responses: refused },
  { name: 'a control character in a value', send: [withLines('X-A: a\u0001b')], responses: refused },
  { name: 'a bare CR in a value', send: [withLines('X-A: a\rb')], responses: refused },
  { name: 'a bare CR that hides a line', send: [withLines('X-A: a\rTransfer-Encoding: chunked')], responses: refused },
  { name: 'a bare LF in a value', send: [withLines('X-A: a\nb')], responses: refused },
  // RFC 9112 section 2.2: a bare LF MAY end a line.
  { name: 'a bare LF as a line end', send: [withLines('X-A: a\nX-B: b')], responses: [[200], [400]] },
  {
    name: 'bare LFs as all line ends',
    send: [tokenRequest().replaceAll('\r\n', '\n')],
    responses: [[200], [400], [505]],
  },
  { name: 'no colon', send: [withLines('X-A')], responses: refused },
  { name: 'no name', send: [withLines(': x')], responses: refused },
  // RFC 9112 section 5.1: 400, because parsers would disagree on the name.
  { name: 'a space before the colon', send: [withLines('X-A : x')], responses: refused },
  { name: 'a bracket in a name', send: [withLines('X(A): x')], responses: refused },
  { name: 'bytes beyond ASCII in a name', send: [withLines('X-\u00e9: x')], responses: refused },
  { name: 'two Authorization lines', send: [withLines(`Authorization: ${basic(outer)}`)], responses: [[400], [401]] },
  { name: 'two Authorization lines, one empty', send: [withLines('authorization:')], responses: [[400], [401]] },
  {
    name: 'two Authorization lines of two schemes',
    send: [withLines('AUTHORIZATION: Bearer x')],
    responses: [[400], [401]],
  },
  {
    name: 'two Content-Type lines',
    send: [withLines('Content-Type: application/json')],
    responses: [[200], [400], [415]],
  },
  {
    name: 'an Authorization of 60,000 bytes',
    send: [get('/connect/userinfo', `Authorization: Bearer ${'x'.repeat(60_000)}`)],
    responses: [[400], [401], [431]],
  },
  { name: 'a line of 200,000 bytes', send: [withLines(`X-A: ${'x'.repeat(200_000)}`)], responses: tooLarge },
  {
    name: '1,000,000 bytes in short lines',
    send: [withLines(...Array.from({ length: 50_000 }, (_, index) => `X-${index}: aaaaaaaa`))],
    responses: tooLarge,
  },
  {
    name: '20,000 lines without a value',
    send: [withLines(...Array.from({ length: 20_000 }, () => 'X:'))],
    responses: tooLarge,
  },
  {
    name: 'endless lines',
    send: () => endlessly(unfinished, 'X-A: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n'.repeat(100)),
    responses: tooLarge,
  },
  { name: 'one endless line', send: () => endlessly(`${unfinished}X-A: `, 'x'.repeat(4096)), responses: tooLarge },
  { name: 'an endless name', send: () => endlessly(unfinished, 'x'.repeat(4096)), responses: tooLarge },
  {
    name: 'an endless request line',
    send: () => endlessly('GET /', 'x'.repeat(4096)),
    responses: [[400], [413], [414], [431], []],
  },
  {
    name: 'an endless method',
    send: () => endlessly('', 'X'.repeat(4096)),
    responses: [[400], [413], [431], [501], []],
  },
  // RFC 9110 section 7.8: a server may ignore an upgrade.
  {
    name: 'an upgrade to h2c',
    send: [withLines('Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA')],
    responses: right,
  },
  {
    name: 'an upgrade to h2c named in Connection',
    send: [
      tokenRequest({
        keep: true,
        more: [
          'Connection: Upgrade, HTTP2-Settings, close',
          'Upgrade: h2c',
          'HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA',
        ],
      }),
    ],
    responses: right,
  },
  {
    name: 'an upgrade to WebSocket',
    send: [
      head(
        'GET /.well-known/jwks HTTP/1.1',
        host,
        'Connection: Upgrade, close',
        'Upgrade: websocket',
        'Sec-WebSocket-Version: 13',
        'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
      ),
    ],
    responses: [[200], [400], [426]],
  },
  {
    name: 'an upgrade followed by a hidden request',
    send: [
      head('GET /.well-known/jwks HTTP/1.1', host, 'Connection: Upgrade, close', 'Upgrade: websocket'),
      hiddenRequest,
    ],
    responses: [[200], [400], [426]],
  },
  // RFC 9112 section 9.6: a server must not process requests after `Connection: close`.
  { name: 'Connection: close', send: [tokenRequest(), hiddenRequest], responses: [[200], [200, 400]] },
  {
    name: 'Connection: close in a list',
    send: [tokenRequest({ keep: true, more: ['Connection: x, Close'] }), hiddenRequest],
    responses: [[200], [200, 400]],
  },
  {
    name: 'Connection names Authorization',
    send: [tokenRequest({ keep: true, more: ['Connection: authorization, close'] })],
    responses: [[200], [400], [401]],
  },
  {
    name: 'HTTP/1.0 is not kept alive',
    send: [tokenRequest({ version: 'HTTP/1.0', keep: true }), hiddenRequest],
    responses: right,
  },
  // RFC 9110 section 10.1.1: 100-continue is the only expectation; another MAY get 417.
  {
    name: '100-continue',
    send: [tokenRequest({ more: ['Expect: 100-continue'], body: '', lengths: [length(form.length)] }), 30, form],
    responses: [[100, 200], [200]],
  },
  {
    name: '100-continue together with the body',
    send: [tokenRequest({ more: ['Expect: 100-continue'] })],
    responses: [[100, 200], [200]],
  },
  { name: 'an unknown expectation', send: [withLines('Expect: magic')], responses: [[200], [417]] },
  {
    name: '100-continue, HTTP/1.0',
    send: [tokenRequest({ version: 'HTTP/1.0', more: ['Expect: 100-continue'] })],
    responses: [[200]],
  },
]

/** Input that is not HTTP/1, as it reaches every open port. */
export const strangerCases: readonly FramingCase[] = [
  { name: 'the preface of HTTP/2', send: ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'], responses: [[400], [405], [505], []] },
  {
    name: 'the preface of HTTP/2 and a frame',
    send: ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\u0000\u0000\u0000\u0004\u0000\u0000\u0000\u0000\u0000'],
    responses: [[400], [405], [505], []],
  },
  {
    name: 'a TLS hello',
    send: ['\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003'],
    responses: [[400], []],
    afterwards: 'half-close',
  },
  { name: 'a request of HTTP/0.9', send: ['GET /connect/token\r\n\r\n'], responses: [[400], [405], [505], []] },
  { name: 'a request of HTTP/9.9', send: [tokenRequest({ version: 'HTTP/9.9' })], responses: [[400], [505]] },
  { name: 'a request of HTTP/1.2', send: [tokenRequest({ version: 'HTTP/1.2' })], responses: [[200], [400], [505]] },
  { name: 'a request of http/1.1', send: [tokenRequest({ version: 'http/1.1' })], responses: [[400], [505], []] },
  { name: 'a response', send: [head('HTTP/1.1 200 OK', close)], responses: [[400], []] },
  { name: 'empty lines', send: ['\r\n'.repeat(100)], responses: [[400], []], afterwards: 'half-close' },
  { name: 'NULs', send: ['\u0000'.repeat(1000)], responses: [[400], []], afterwards: 'half-close' },
  { name: 'JSON', send: ['{"grant_type":"client_credentials"}\r\n\r\n'], responses: [[400], []] },
  { name: 'nothing', send: [], responses: [[], [400]], afterwards: 'half-close' },
]
