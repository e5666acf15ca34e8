import { basic } from '@grantry/testing'
import { expect } from 'vitest'
import { web } from '../../support/fixture.ts'
import type { ContractCase, Expected } from '../contract-case.ts'
import { issuer } from '../provider.ts'
import type { WireRequest } from '../wire-request.ts'
import { bearer, form, formType, get, success } from './common.ts'

const discovery = '/.well-known/openid-configuration'
const token = form('/connect/token', { grant_type: 'client_credentials', scope: 'api1' }, basic(web))

const withHeaders = (...headers: readonly (readonly [string, string])[]): WireRequest => ({
  ...token,
  headers: [...(token.headers ?? []), ...headers],
})

/** The issuer is configured: the Host header never changes the document, although a server can refuse the request. */
const sameOrRefused: Expected = {
  status: [200, 400, 404],
  check(body) {
    expect(body).not.toContain('evil')
    if (body.includes('"issuer"')) expect(JSON.parse(body).issuer).toBe(issuer)
  },
}

export const wireCases: readonly ContractCase[] = [
  {
    name: 'rejects two Authorization headers',
    wireOnly: true,
    steps: [
      { send: withHeaders(['Authorization', basic(web)]), expect: { status: 400 } },
      { send: withHeaders(bearer('x')), expect: { status: 400 } },
      { send: withHeaders(['authorization', '']), expect: { status: 400 } },
    ],
  },
  {
    name: 'rejects Authorization values joined by a comma',
    steps: [
      {
        send: {
          ...token,
          headers: [
            ['Content-Type', formType],
            ['Authorization', `${basic(web)}, ${basic(web)}`],
          ],
        },
        expect: { status: [400, 401] },
      },
    ],
  },
  {
    name: 'ignores the case of header names',
    steps: [
      {
        send: {
          ...token,
          headers: [
            ['CONTENT-TYPE', formType],
            ['aUTHORIZATION', basic(web)],
          ],
        },
        expect: success,
      },
    ],
  },
  {
    name: 'ignores cookies, in one header or in several, and sets none',
    steps: [
      {
        send: withHeaders(['Cookie', 'a=1'], ['Cookie', 'b=2; c="x'], ['Cookie', '__Host-s=%']),
        expect: success,
      },
    ],
  },
  {
    name: 'serves or rejects a target in absolute form, and ignores its host',
    wireOnly: true,
    steps: ['http://evil.example', 'https://evil.example:99', 'http://user:pw@evil.example'].map((origin) => ({
      send: get(`${origin}${discovery}`),
      expect: sameOrRefused,
    })),
  },
  {
    name: 'serves or rejects a hostile Host, and ignores its value',
    wireOnly: true,
    steps: [
      'evil.example',
      'good.example@evil.example',
      'user:pw@evil.example',
      `evil.example${discovery}?`,
      `evil.example${discovery}#`,
      'a b',
      '[::1',
      'evil.example:99999',
      '',
      '%',
      'é.evil.example',
    ].map((host) => ({ send: get(discovery, ['Host', host]), expect: sameOrRefused })),
  },
  {
    name: 'never takes the path from Host',
    wireOnly: true,
    steps: [
      {
        send: get('/elsewhere', ['Host', `evil.example${discovery}?`]),
        expect: { status: [400, 404] },
      },
    ],
  },
  {
    name: 'rejects TRACE and echoes nothing',
    wireOnly: true,
    steps: [
      {
        send: { method: 'TRACE', target: '/connect/token', headers: [['X-Secret', 'hunter2'], bearer('hunter3')] },
        expect: { status: [400, 405, 501], check: (body) => expect(body).not.toMatch(/hunter/u) },
      },
    ],
  },
  {
    name: 'rejects targets that are not paths',
    wireOnly: true,
    steps: [
      { send: { method: 'OPTIONS', target: '*' }, expect: { status: [400, 404, 405] } },
      { send: get('connect/token'), expect: { status: 400 } },
      { send: get('//evil.example/connect/token'), expect: { status: [400, 404] } },
      { send: get('/connect/../connect/../x'), expect: { status: [400, 404] } },
    ],
  },
]
