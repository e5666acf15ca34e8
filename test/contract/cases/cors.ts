import { basic } from '@grantry/testing'
import { web } from '../../support/fixture.ts'
import type { ContractCase } from '../contract-case.ts'
import type { WireRequest } from '../wire-request.ts'
import { form, get, refused, success } from './common.ts'

const preflight = (target: string, origin: string): WireRequest => ({
  method: 'OPTIONS',
  target,
  headers: [
    ['Origin', origin],
    ['Access-Control-Request-Method', 'POST'],
    ['Access-Control-Request-Headers', 'authorization,traceparent'],
  ],
})

/** A 204 has no Content-Length, not even 0 (RFC 9110 section 8.6), and no transfer coding (RFC 9112 section 6.1). */
const noContent = { 'content-length': undefined, 'transfer-encoding': undefined, 'content-type': undefined } as const

const absent = {
  'access-control-allow-origin': undefined,
  'access-control-allow-methods': undefined,
  'access-control-allow-headers': undefined,
  'access-control-allow-credentials': undefined,
} as const

const preflightVary = 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers'

const allowed = (origin: string) => ({
  vary: 'Origin',
  'access-control-allow-origin': origin,
  'access-control-allow-credentials': undefined,
})

const from = (request: WireRequest, origin: string): WireRequest => ({
  ...request,
  headers: [...(request.headers ?? []), ['Origin', origin]],
})

const spa = 'https://spa.example.com'
const origin = 'https://web.example.com'
const request = form('/connect/token', { grant_type: 'client_credentials', scope: 'api1' }, basic(web))

export const corsCases: readonly ContractCase[] = [
  {
    name: 'preflight of an allowed origin: returns 204 without a body or a length',
    steps: [
      {
        send: preflight('/connect/token', spa),
        expect: {
          status: 204,
          headers: {
            ...noContent,
            ...allowed(spa),
            vary: preflightVary,
            'access-control-allow-methods': 'POST',
            'access-control-allow-headers': 'authorization, traceparent',
            'access-control-max-age': '600',
            'cache-control': 'no-store',
          },
          body: '',
        },
      },
    ],
  },
  {
    name: 'preflight of a foreign origin: returns 204 and allows nothing',
    steps: ['https://evil.example', 'null', 'https://spa.example.com.evil.example'].map((foreign) => ({
      send: preflight('/connect/token', foreign),
      expect: { status: 204, headers: { ...noContent, ...absent, vary: preflightVary }, body: '' },
    })),
  },
  {
    name: 'rejects OPTIONS that is not a preflight with 405',
    steps: [
      {
        send: { method: 'OPTIONS', target: '/connect/token' },
        expect: refused(405, 'invalid_request', { allow: 'POST, OPTIONS' }),
      },
    ],
  },
  {
    name: 'lets only the origin of the calling client read the response',
    steps: [
      { send: from(request, origin), expect: { ...success, headers: { ...success.headers, ...allowed(origin) } } },
      { send: from(request, spa), expect: { ...success, headers: { ...success.headers, ...absent, vary: 'Origin' } } },
    ],
  },
  {
    name: 'lets every page read the documents, and an allowed origin the headers that explain a refusal',
    steps: [
      ...['/.well-known/openid-configuration', '/.well-known/jwks'].map((target) => ({
        send: from(get(target), 'https://unknown.example'),
        expect: { status: 200, headers: { 'access-control-allow-origin': '*', vary: undefined } },
      })),
      {
        send: from(get('/connect/userinfo'), spa),
        expect: {
          status: 401,
          headers: { ...allowed(spa), 'access-control-expose-headers': 'www-authenticate, retry-after' },
        },
      },
    ],
  },
  {
    name: 'sends no CORS headers at introspection and access token validation',
    steps: [
      {
        send: preflight('/connect/introspect', spa),
        expect: refused(405, 'invalid_request', { ...absent, vary: undefined, allow: 'POST' }),
      },
      {
        send: from(get('/connect/accesstokenvalidation'), spa),
        expect: refused(400, 'invalid_request', { ...absent, vary: undefined }),
      },
    ],
  },
]
