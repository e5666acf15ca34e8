import { basic } from '@grantry/testing'
import type { FramingCase } from '../framing-case.ts'
import type { RawResponse } from '../raw-responses.ts'
import { close, form, head, host, length, outer } from '../requests.ts'

const send = (method: string, path: string, ...more: string[]): string =>
  head(`${method} ${path} HTTP/1.1`, host, `Authorization: ${basic(outer)}`, ...more, close)

/** RFC 9110 section 9.3.8: an echo would reveal credentials to a page that makes a browser send TRACE. */
function echoesNothing([response]: readonly RawResponse[]): void {
  if (response?.body.includes(basic(outer)) || response?.body.includes('hunter2'))
    throw new Error(`an echo: ${response.body}`)
}

function hasNoBody([response]: readonly RawResponse[]): void {
  if (response?.framing !== 'none' || response.body !== '') throw new Error(`a body: ${response?.body}`)
}

/** RFC 9110 section 8.6, RFC 9112 section 6.1: a 204 has neither field. */
function hasNoLength([response]: readonly RawResponse[]): void {
  for (const name of ['content-length', 'transfer-encoding']) {
    if (response?.headers.has(name)) throw new Error(`a 204 with ${name}: ${response.headers.get(name)}`)
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
    send: [send('TRACE', '/connect/token', 'X-Secret: hunter2')],
    responses: [[400], [405], [501], []],
    check: echoesNothing,
  },
  {
    name: 'TRACK',
    send: [send('TRACK', '/connect/token', 'X-Secret: hunter2')],
    responses: [[400], [405], [501], []],
    check: echoesNothing,
  },
  { name: 'PATCH', send: [send('PATCH', '/connect/token')], responses: [[405]] },
  { name: 'DELETE', send: [send('DELETE', '/connect/token')], responses: [[405]] },
  { name: 'PUT with a body', send: [send('PUT', '/connect/token', length(form.length)) + form], responses: [[405]] },
  { name: 'QUERY', send: [send('QUERY', '/connect/token')], responses: [[400], [405], [501], []] },
  { name: 'an unknown method', send: [send('GRANT', '/connect/token')], responses: [[400], [405], [501], []] },
  { name: 'a method in lower case', send: [send('get', '/.well-known/jwks')], responses: [[400], [405], [501], []] },
  {
    name: 'a method with a control character',
    send: [send('GE\u0001T', '/.well-known/jwks')],
    responses: [[400], [505], []],
  },
  {
    name: 'GET with a body',
    send: [send('GET', '/.well-known/jwks', length(form.length)) + form],
    responses: [[200], [400]],
  },
  ...endpoints.map(
    ([path, status]): FramingCase => ({
      name: `HEAD ${path}`,
      send: [head(`HEAD ${path} HTTP/1.1`, host, close)],
      methods: ['HEAD'],
      responses: [[status]],
      check: hasNoBody,
    }),
  ),
  ...endpoints.map(
    ([path, status]): FramingCase => ({
      name: `HEAD ${path} twice on one connection`,
      send: [head(`HEAD ${path} HTTP/1.1`, host), head(`HEAD ${path} HTTP/1.1`, host, close)],
      methods: ['HEAD', 'HEAD'],
      responses: [[status, status]],
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
    responses: [[204, 204]],
    check: (responses) => {
      for (const response of responses) hasNoLength([response])
    },
  },
]
