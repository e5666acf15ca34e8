import { basic } from '@grantry/testing'
import { web } from '../../support/fixture.ts'
import type { ContractCase } from '../contract-case.ts'
import type { WireRequest } from '../wire-request.ts'
import { form, formType, get, post, refused, success } from './common.ts'

const valid = 'grant_type=client_credentials&scope=api1'
const token = (body: string) => post('/connect/token', body, basic(web))

const typed = (type: string | undefined): WireRequest => ({
  method: 'POST',
  target: '/connect/token',
  headers: [['Authorization', basic(web)], ...(type === undefined ? [] : [['Content-Type', type] as const])],
  // As bytes: Fetch adds a Content-Type to a text body.
  body: new TextEncoder().encode(valid),
})

const tooMuch = `${valid}&padding=${'x'.repeat(70_000)}`
const tooLarge = refused(413, 'invalid_request')
const malformed = refused(400, 'invalid_request')

export const formCases: readonly ContractCase[] = [
  {
    name: 'returns 404 for a path without an endpoint',
    steps: ['/', '/connect', '/connect/token/', '/CONNECT/TOKEN', '/connect/tokens?x=1', '/favicon.ico'].map(
      (target) => ({ send: get(target), expect: refused(404, 'invalid_request') }),
    ),
  },
  {
    name: 'rejects a wrong method with 405 and Allow',
    steps: [
      { send: get('/connect/token'), expect: refused(405, 'invalid_request', { allow: 'POST, OPTIONS' }) },
      {
        send: { ...form('/connect/token', {}), method: 'PUT' },
        expect: refused(405, 'invalid_request', { allow: 'POST, OPTIONS' }),
      },
      {
        send: { target: '/connect/userinfo', method: 'DELETE' },
        expect: refused(405, 'invalid_request', { allow: 'GET, POST, HEAD, OPTIONS' }),
      },
      { send: get('/connect/introspect'), expect: refused(405, 'invalid_request', { allow: 'POST' }) },
    ],
  },
  {
    name: 'rejects a body with a Content-Length over the limit with 413',
    steps: [{ send: token(tooMuch), expect: tooLarge }],
  },
  {
    name: 'rejects a chunked body over the limit with 413',
    steps: [{ send: { ...token(tooMuch), framing: 'chunked' }, expect: tooLarge }],
  },
  {
    name: 'reads a chunked body',
    steps: [{ send: { ...token(`${valid}&padding=${'x'.repeat(40_000)}`), framing: 'chunked' }, expect: success }],
  },
  {
    name: 'rejects a body that is not a form, or has no type, with 415',
    steps: ['application/json', 'text/plain', 'multipart/form-data; boundary=x', undefined].map((type) => ({
      send: typed(type),
      expect: refused(415, 'invalid_request'),
    })),
  },
  {
    name: 'ignores case and parameters of the media type',
    steps: [`${formType}; charset=UTF-8`, 'Application/X-WWW-Form-UrlEncoded', `${formType};charset=iso-8859-1`].map(
      (type) => ({ send: typed(type), expect: success }),
    ),
  },
  {
    name: 'rejects a repeated parameter',
    steps: [
      { send: token(`${valid}&scope=api1`), expect: malformed },
      { send: token(`${valid}&%73cope=api2`), expect: malformed },
      { send: get('/connect/accesstokenvalidation?token=a&token=b'), expect: malformed },
    ],
  },
  {
    name: 'rejects malformed percent encoding',
    steps: [
      ...['%', '%zz', '%e2%82', '%ff', '%c0%af', '%ed%a0%80'].map((bad) => ({
        send: token(`${valid}&x=${bad}`),
        expect: malformed,
      })),
      { send: get('/connect/accesstokenvalidation?token=%zz'), expect: malformed },
    ],
  },
  {
    name: 'rejects bytes that are not UTF-8',
    steps: [
      {
        send: { ...token(''), body: new Uint8Array([...new TextEncoder().encode(`${valid}&x=`), 0xff, 0xfe]) },
        expect: malformed,
      },
    ],
  },
  {
    name: 'ignores unknown and empty parameters, including names of prototype members',
    steps: [
      { send: token(`${valid}&x=1&=2&&username=&__proto__=a&constructor=b`), expect: success },
      { send: token('grant_type=&scope=api1'), expect: malformed },
    ],
  },
  {
    name: 'reads an empty body as a form without parameters',
    steps: [{ send: token(''), expect: malformed }],
  },
  {
    name: 'rejects a query over the limit',
    steps: [
      {
        send: get(`/connect/accesstokenvalidation?token=${'x'.repeat(10_000)}`),
        expect: { status: [400, 414, 431] },
      },
    ],
  },
]
