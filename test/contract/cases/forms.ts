import { basic } from '@grantry/core/testing'
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
  // As bytes: for text, Fetch would add a type of its own.
  body: new TextEncoder().encode(valid),
})

const tooMuch = `${valid}&padding=${'x'.repeat(70_000)}`
const tooLarge = refused(413, 'invalid_request')
const malformed = refused(400, 'invalid_request')

export const formCases: readonly ContractCase[] = [
  {
    name: 'a path that is no endpoint is 404',
    steps: ['/', '/connect', '/connect/token/', '/CONNECT/TOKEN', '/connect/tokens?x=1', '/favicon.ico'].map(
      (target) => ({ send: get(target), expect: refused(404, 'invalid_request') }),
    ),
  },
  {
    name: 'a wrong method is 405 and told what is allowed',
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
    name: 'a body over the limit is 413, its length announced',
    steps: [{ send: token(tooMuch), expect: tooLarge }],
  },
  {
    name: 'a body over the limit is 413, in chunks',
    steps: [{ send: { ...token(tooMuch), framing: 'chunked' }, expect: tooLarge }],
  },
  {
    name: 'a body in chunks is read',
    steps: [{ send: { ...token(`${valid}&padding=${'x'.repeat(40_000)}`), framing: 'chunked' }, expect: success }],
  },
  {
    name: 'a body that is no form is 415, and so is one without a type',
    steps: ['application/json', 'text/plain', 'multipart/form-data; boundary=x', undefined].map((type) => ({
      send: typed(type),
      expect: refused(415, 'invalid_request'),
    })),
  },
  {
    name: 'the media type is read without regard to case and parameters',
    steps: [`${formType}; charset=UTF-8`, 'Application/X-WWW-Form-UrlEncoded', `${formType};charset=iso-8859-1`].map(
      (type) => ({ send: typed(type), expect: success }),
    ),
  },
  {
    name: 'a repeated parameter is refused',
    steps: [
      { send: token(`${valid}&scope=api1`), expect: malformed },
      { send: token(`${valid}&%73cope=api2`), expect: malformed },
      { send: get('/connect/accesstokenvalidation?token=a&token=b'), expect: malformed },
    ],
  },
  {
    name: 'bad percent encoding is refused',
    steps: [
      ...['%', '%zz', '%e2%82', '%ff', '%c0%af', '%ed%a0%80'].map((bad) => ({
        send: token(`${valid}&x=${bad}`),
        expect: malformed,
      })),
      { send: get('/connect/accesstokenvalidation?token=%zz'), expect: malformed },
    ],
  },
  {
    name: 'bytes that are no UTF-8 are refused',
    steps: [
      {
        send: { ...token(''), body: new Uint8Array([...new TextEncoder().encode(`${valid}&x=`), 0xff, 0xfe]) },
        expect: malformed,
      },
    ],
  },
  {
    name: 'unknown and empty parameters are ignored, names of prototypes too',
    steps: [
      { send: token(`${valid}&x=1&=2&&username=&__proto__=a&constructor=b`), expect: success },
      { send: token('grant_type=&scope=api1'), expect: malformed },
    ],
  },
  {
    name: 'an empty body is a form without parameters',
    steps: [{ send: token(''), expect: malformed }],
  },
  {
    name: 'a query over the limit is refused',
    steps: [
      {
        send: get(`/connect/accesstokenvalidation?token=${'x'.repeat(10_000)}`),
        expect: { status: [400, 414, 431] },
      },
    ],
  },
]
