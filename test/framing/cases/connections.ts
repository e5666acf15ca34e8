import { expect } from 'vitest'
import type { FramingCase } from '../framing-case.ts'
import {
  chunks,
  close,
  form,
  get,
  head,
  hidden,
  hiddenRequest,
  host,
  inChunks,
  length,
  tokenRequest,
} from '../requests.ts'

const kept = (target: string): string => head(`GET ${target} HTTP/1.1`, host)
const right = tokenRequest({ keep: true })
const wrong = tokenRequest({ keep: true, as: ['web', 'wrong'] })
const inPieces = tokenRequest({ keep: true, lengths: [inChunks], body: chunks(form.slice(0, 5), form.slice(5)) })
const broken = tokenRequest({ keep: true, lengths: [inChunks], body: `zz\r\n${form}\r\n0\r\n\r\n` })
const second = tokenRequest({ as: hidden })
const half = (text: string): string => text.slice(0, Math.floor(text.length / 2))

/** RFC 9112 section 9: several requests on one connection, and connections that end early. */
export const connectionCases: readonly FramingCase[] = [
  { name: 'two pipelined posts', send: [right + second], responses: [[200, 200]], hiddenTokens: 1 },
  { name: 'a pipelined post and get', send: [right + get('/.well-known/jwks')], responses: [[200, 200]] },
  { name: 'a pipelined chunked post and get', send: [inPieces + get('/connect/userinfo')], responses: [[200, 401]] },
  {
    name: 'many pipelined requests, in order',
    send: [
      right +
        wrong +
        kept('/.well-known/jwks') +
        kept('/nothing') +
        inPieces +
        kept('/connect/userinfo') +
        kept('/connect/token') +
        second,
    ],
    responses: [[200, 401, 200, 404, 200, 401, 405, 200]],
    hiddenTokens: 1,
  },
  {
    name: 'a slow request before fast ones keeps its place',
    send: [`${right}${kept('/nothing')}`.repeat(20) + get('/nothing')],
    responses: [[...Array.from({ length: 20 }, () => [200, 404]).flat(), 404]],
  },
  {
    name: 'HEAD between others',
    send: [kept('/.well-known/jwks') + kept('/.well-known/jwks').replace('GET', 'HEAD') + second],
    methods: ['GET', 'HEAD', 'POST'],
    responses: [[200, 200, 200]],
    hiddenTokens: 1,
  },
  { name: 'an empty line between requests', send: [`${right}\r\n${second}`], responses: [[200, 200]], hiddenTokens: 1 },
  { name: 'after a 401', send: [wrong, 20, second], responses: [[401, 200]], hiddenTokens: 1 },
  { name: 'after a 404', send: [kept('/nothing'), 20, second], responses: [[404, 200]], hiddenTokens: 1 },
  {
    name: 'after a 404 with a body',
    send: [tokenRequest({ keep: true, target: '/nothing' }), 20, second],
    responses: [[404, 200]],
    hiddenTokens: 1,
  },
  { name: 'after a 405', send: [kept('/connect/token'), 20, second], responses: [[405, 200]], hiddenTokens: 1 },
  {
    name: 'after a 405 with a body',
    send: [right.replace('POST', 'PUT'), 20, second],
    responses: [[405, 200]],
    hiddenTokens: 1,
  },
  {
    name: 'after a 415',
    send: [right.replace('x-www-form-urlencoded', 'json'), 20, second],
    responses: [[415, 200]],
    hiddenTokens: 1,
  },
  {
    name: 'after a preflight',
    send: [
      head('OPTIONS /connect/token HTTP/1.1', host, 'Origin: https://x.example', 'Access-Control-Request-Method: POST'),
      20,
      second,
    ],
    responses: [[204, 200]],
    hiddenTokens: 1,
  },
  // RFC 9110 section 7.8: a server may ignore an upgrade. Node.js discards what its parser has read after one, so our
  // response closes the connection: otherwise a client would match the next response to the wrong request. Bun and Deno
  // process the requests that follow. Deno refuses an upgrade with a body.
  ...[kept('/.well-known/jwks'), right].flatMap((plain): FramingCase[] => {
    const upgrading = plain.replace('\r\n', '\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n')
    const method = plain.slice(0, plain.indexOf(' '))
    const last = get('/nothing')
    // If requests get no response, the client must see that the connection has closed.
    const closesBefore =
      (all: number): Exclude<FramingCase['check'], undefined> =>
      (responses) => {
        if (responses.length < all) expect(responses.at(-1)?.headers.get('connection')).toBe('close')
      }
    return [
      {
        name: `an upgrade by ${method} before pipelined requests`,
        send: [upgrading + kept('/connect/token') + last],
        responses: [[200], [200, 405, 404], [400]],
        check: closesBefore(3),
      },
      {
        name: `an upgrade by ${method} before another`,
        send: [upgrading, 20, last],
        responses: [[200], [200, 404], [400]],
        check: closesBefore(2),
      },
      {
        name: `an upgrade by ${method} after another`,
        send: [kept('/nothing') + upgrading + last],
        responses: [
          [404, 200],
          [404, 200, 404],
          [404, 400],
        ],
        check: closesBefore(3),
      },
    ]
  }),
  { name: 'a malformed request closes the connection', send: [broken + hiddenRequest], responses: [[400], []] },
  { name: 'a malformed request, and a delayed one', send: [broken, 50, hiddenRequest], responses: [[400], []] },
  // The refusal of the second request must not arrive as the response to the first: a proxy would send it to the wrong
  // client.
  { name: 'a malformed request after a valid one', send: [right + broken], responses: [[200, 400], [200]] },
  {
    name: 'garbage after a valid request',
    send: [`${right}\u0000\u0000\u0000\r\n\r\n`],
    responses: [[200, 400], [200]],
  },
  {
    name: 'half a request after a valid one',
    send: [right + half(second)],
    responses: [[200], [200, 400]],
    afterwards: 'half-close',
  },
  { name: 'half-close after the request', send: [right], responses: [[200]], afterwards: 'half-close' },
  {
    name: 'half-close after two requests',
    send: [right + second],
    responses: [[200, 200]],
    hiddenTokens: 1,
    afterwards: 'half-close',
  },
  { name: 'half-close in the request line', send: ['POST /conn'], responses: [[], [400]], afterwards: 'half-close' },
  { name: 'half-close in the headers', send: [half(right)], responses: [[], [400]], afterwards: 'half-close' },
  {
    name: 'half-close before the body',
    send: [tokenRequest({ body: '', lengths: [length(form.length)] })],
    responses: [[], [400]],
    afterwards: 'half-close',
  },
  { name: 'half-close in the body', send: [right.slice(0, -10)], responses: [[], [400]], afterwards: 'half-close' },
  { name: 'disconnect in the request line', send: ['POST /conn'], responses: [], afterwards: 'cut' },
  { name: 'disconnect in the headers', send: [half(right), 10], responses: [], afterwards: 'cut' },
  {
    name: 'disconnect before the body',
    send: [tokenRequest({ body: '', lengths: [length(form.length)] }), 10],
    responses: [],
    afterwards: 'cut',
  },
  { name: 'disconnect in the body', send: [right.slice(0, -10), 10], responses: [], afterwards: 'cut' },
  { name: 'disconnect in a chunk', send: [inPieces.slice(0, -20), 10], responses: [], afterwards: 'cut' },
  { name: 'disconnect before the response', send: [right], responses: [], afterwards: 'cut' },
  { name: 'disconnect before many responses', send: [right.repeat(50)], responses: [], afterwards: 'cut' },
  { name: 'disconnect immediately', send: [], responses: [], afterwards: 'cut' },
  {
    name: 'a body that waits for 100 Continue and never arrives',
    send: [tokenRequest({ body: '', lengths: [length(form.length)], more: ['Expect: 100-continue', close] }), 20],
    responses: [],
    afterwards: 'cut',
  },
]
