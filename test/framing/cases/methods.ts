import { basic } from '@grantry/core/testing'
import type { RawAnswer } from '../answers.ts'
import type { FramingCase } from '../framing-case.ts'
import { close, form, head, host, length, outer } from '../requests.ts'

const ask = (method: string, path: string, ...more: string[]): string =>
  head(`${method} ${path} HTTP/1.1`, host, `Authorization: ${basic(outer)}`, ...more, close)

/** RFC 9110 section 9.3.8: an echo would reveal credentials to a page that makes a browser send TRACE. */
function echoesNothing([answer]: readonly RawAnswer[]): void {
  if (answer?.body.includes(basic(outer)) || answer?.body.includes('hunter2'))
    throw new Error(`an echo: ${answer.body}`)
}

function hasNoBody([answer]: readonly RawAnswer[]): void {
  if (answer?.framing !== 'none' || answer.body !== '') throw new Error(`a body: ${answer?.body}`)
}

/** RFC 9110 section 8.6, RFC 9112 section 6.1: a 204 has neither field. */
function hasNoLength([answer]: readonly RawAnswer[]): void {
  for (const name of ['content-length', 'transfer-encoding']) {
    if (answer?.headers.has(name)) throw new Error(`a 204 with ${name}: ${answer.headers.get(name)}`)
  }
}

const endpoints: readonly (readonly [path: string, status: number])[] = [
  ['/connect/token', 405],
  ['/connect/identitytokenvalidation', 400],
  ['/connect/userinfo', 401],
  ['/connect/accesstokenvalidation', 400],
  ['/connect/introspect', 405],
  ['/connect/revocation', 405],
  ['/.well-known/openid-configuration', 200],
  ['/.well-known/oauth-authorization-server', 200],
  ['/.well-known/jwks', 200],
  ['/nothing', 404],
]

/** RFC 9110 section 9: methods; section 6.4.1: responses without a body. */
export const methodCases: readonly FramingCase[] = [
  {
    name: 'TRACE',
    send: [ask('TRACE', '/connect/token', 'X-Secret: hunter2')],
    answers: [[400], [405], [501], []],
    check: echoesNothing,
  },
  {
    name: 'TRACK',
    send: [ask('TRACK', '/connect/token', 'X-Secret: hunter2')],
    answers: [[400], [405], [501], []],
    check: echoesNothing,
  },
  { name: 'PATCH', send: [ask('PATCH', '/connect/token')], answers: [[405]] },
  { name: 'DELETE', send: [ask('DELETE', '/connect/token')], answers: [[405]] },
  { name: 'PUT with a body', send: [ask('PUT', '/connect/token', length(form.length)) + form], answers: [[405]] },
  { name: 'QUERY', send: [ask('QUERY', '/connect/token')], answers: [[400], [405], [501], []] },
  { name: 'an unknown method', send: [ask('GRANT', '/connect/token')], answers: [[400], [405], [501], []] },
  { name: 'a method in lower case', send: [ask('get', '/.well-known/jwks')], answers: [[400], [405], [501], []] },
  {
    name: 'a method with a control character',
    send: [ask('GE\u0001T', '/.well-known/jwks')],
    answers: [[400], [505], []],
  },
  {
    name: 'GET with a body',
    send: [ask('GET', '/.well-known/jwks', length(form.length)) + form],
    answers: [[200], [400]],
  },
  ...endpoints.map(
    ([path, status]): FramingCase => ({
      name: `HEAD ${path}`,
      send: [head(`HEAD ${path} HTTP/1.1`, host, close)],
      methods: ['HEAD'],
      answers: [[status]],
      check: hasNoBody,
    }),
  ),
  ...endpoints.map(
    ([path, status]): FramingCase => ({
      name: `HEAD ${path} twice on one connection`,
      send: [head(`HEAD ${path} HTTP/1.1`, host), head(`HEAD ${path} HTTP/1.1`, host, close)],
      methods: ['HEAD', 'HEAD'],
      answers: [[status, status]],
      check: hasNoBody,
    }),
  ),
  {
    name: 'a preflight has no length',
    send: [
      head(
        'OPTIONS /connect/token HTTP/1.1',
        host,
        'Origin: https://web.example.com',
        'Access-Control-Request-Method: POST',
      ),
      head(
        'OPTIONS /connect/userinfo HTTP/1.1',
        host,
        'Origin: https://x.example',
        'Access-Control-Request-Method: GET',
        close,
      ),
    ],
    answers: [[204, 204]],
    check: (answers) => {
      for (const answer of answers) hasNoLength([answer])
    },
  },
]
