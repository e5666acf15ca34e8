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

/** RFC 9112 section 9: several requests on one connection, and connections that end in the middle. */
export const connectionCases: readonly FramingCase[] = [
  { name: 'two posts on top of each other', send: [right + second], answers: [[200, 200]], hiddenTokens: 1 },
  { name: 'post and get on top of each other', send: [right + get('/.well-known/jwks')], answers: [[200, 200]] },
  { name: 'chunks and a get on top of each other', send: [inPieces + get('/connect/userinfo')], answers: [[200, 401]] },
  {
    name: 'many, in their order',
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
    answers: [[200, 401, 200, 404, 200, 401, 405, 200]],
    hiddenTokens: 1,
  },
  {
    name: 'a slow one before quick ones keeps its place',
    send: [`${right}${kept('/nothing')}`.repeat(20) + get('/nothing')],
    answers: [[...Array.from({ length: 20 }, () => [200, 404]).flat(), 404]],
  },
  {
    name: 'HEAD between others',
    send: [kept('/.well-known/jwks') + kept('/.well-known/jwks').replace('GET', 'HEAD') + second],
    methods: ['GET', 'HEAD', 'POST'],
    answers: [[200, 200, 200]],
    hiddenTokens: 1,
  },
  { name: 'an empty line between requests', send: [`${right}\r\n${second}`], answers: [[200, 200]], hiddenTokens: 1 },
  { name: 'after a 401', send: [wrong, 20, second], answers: [[401, 200]], hiddenTokens: 1 },
  { name: 'after a 404', send: [kept('/nothing'), 20, second], answers: [[404, 200]], hiddenTokens: 1 },
  {
    name: 'after a 404 with a body',
    send: [tokenRequest({ keep: true, target: '/nothing' }), 20, second],
    answers: [[404, 200]],
    hiddenTokens: 1,
  },
  { name: 'after a 405', send: [kept('/connect/token'), 20, second], answers: [[405, 200]], hiddenTokens: 1 },
  {
    name: 'after a 405 with a body',
    send: [right.replace('POST', 'PUT'), 20, second],
    answers: [[405, 200]],
    hiddenTokens: 1,
  },
  {
    name: 'after a 415',
    send: [right.replace('x-www-form-urlencoded', 'json'), 20, second],
    answers: [[415, 200]],
    hiddenTokens: 1,
  },
  {
    name: 'after a preflight',
    send: [
      head('OPTIONS /connect/token HTTP/1.1', host, 'Origin: https://x.example', 'Access-Control-Request-Method: POST'),
      20,
      second,
    ],
    answers: [[204, 200]],
    hiddenTokens: 1,
  },
  // RFC 9110 section 7.8: a server may ignore an upgrade. Node.js drops what its parser has read behind one, so our response ends the connection: a client that counts
  // responses would give the next one to the wrong request. Bun and Deno process what follows; Deno refuses an upgrade with a body.
  ...[kept('/.well-known/jwks'), right].flatMap((plain): FramingCase[] => {
    const upgrading = plain.replace('\r\n', '\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n')
    const method = plain.slice(0, plain.indexOf(' '))
    const last = get('/nothing')
    // What gets no response must not be swallowed: the client learns that the connection has ended.
    const closesBefore =
      (all: number): Exclude<FramingCase['check'], undefined> =>
      (answers) => {
        if (answers.length < all) expect(answers.at(-1)?.headers.get('connection')).toBe('close')
      }
    return [
      {
        name: `an upgrade by ${method} on top of others`,
        send: [upgrading + kept('/connect/token') + last],
        answers: [[200], [200, 405, 404], [400]],
        check: closesBefore(3),
      },
      {
        name: `an upgrade by ${method} before another`,
        send: [upgrading, 20, last],
        answers: [[200], [200, 404], [400]],
        check: closesBefore(2),
      },
      {
        name: `an upgrade by ${method} behind another`,
        send: [kept('/nothing') + upgrading + last],
        answers: [
          [404, 200],
          [404, 200, 404],
          [404, 400],
        ],
        check: closesBefore(3),
      },
    ]
  }),
  { name: 'a broken one ends the connection', send: [broken + hiddenRequest], answers: [[400], []] },
  { name: 'a broken one, later', send: [broken, 50, hiddenRequest], answers: [[400], []] },
  // The answer to the first must not be the refusal of the second: whoever counts answers would give them to the wrong callers.
  { name: 'a broken one on top of a right one', send: [right + broken], answers: [[200, 400], [200]] },
  { name: 'garbage on top of a right one', send: [`${right}\u0000\u0000\u0000\r\n\r\n`], answers: [[200, 400], [200]] },
  {
    name: 'half a request on top of a right one',
    send: [right + half(second)],
    answers: [[200], [200, 400]],
    afterwards: 'half-close',
  },
  { name: 'our half ends after the request', send: [right], answers: [[200]], afterwards: 'half-close' },
  {
    name: 'our half ends after two requests',
    send: [right + second],
    answers: [[200, 200]],
    hiddenTokens: 1,
    afterwards: 'half-close',
  },
  { name: 'our half ends in the request line', send: ['POST /conn'], answers: [[], [400]], afterwards: 'half-close' },
  { name: 'our half ends in the headers', send: [half(right)], answers: [[], [400]], afterwards: 'half-close' },
  {
    name: 'our half ends before the body',
    send: [tokenRequest({ body: '', lengths: [length(form.length)] })],
    answers: [[], [400]],
    afterwards: 'half-close',
  },
  { name: 'our half ends in the body', send: [right.slice(0, -10)], answers: [[], [400]], afterwards: 'half-close' },
  { name: 'we go in the request line', send: ['POST /conn'], answers: [], afterwards: 'cut' },
  { name: 'we go in the headers', send: [half(right), 10], answers: [], afterwards: 'cut' },
  {
    name: 'we go before the body',
    send: [tokenRequest({ body: '', lengths: [length(form.length)] }), 10],
    answers: [],
    afterwards: 'cut',
  },
  { name: 'we go in the body', send: [right.slice(0, -10), 10], answers: [], afterwards: 'cut' },
  { name: 'we go in a chunk', send: [inPieces.slice(0, -20), 10], answers: [], afterwards: 'cut' },
  { name: 'we go before the answer', send: [right], answers: [], afterwards: 'cut' },
  { name: 'we go before many answers', send: [right.repeat(50)], answers: [], afterwards: 'cut' },
  { name: 'we go at once', send: [], answers: [], afterwards: 'cut' },
  {
    name: 'a body that waits for its 100 and never comes',
    send: [tokenRequest({ body: '', lengths: [length(form.length)], more: ['Expect: 100-continue', close] }), 20],
    answers: [],
    afterwards: 'cut',
  },
]
