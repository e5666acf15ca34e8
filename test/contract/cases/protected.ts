import { basic } from '@grantry/testing'
import { expect } from 'vitest'
import { api1, api2, proof, redirectUri, web, webJwt } from '../../support/fixture.ts'
import type { ContractCase, Step } from '../contract-case.ts'
import { codePath, issuer } from '../provider.ts'
import { bearer, common, form, get, refused, success } from './common.ts'

const signIn = (scope: string, by = basic(web)): Step => ({
  send: form('/connect/token', { grant_type: 'password', username: 'alice', password: 'alice-password', scope }, by),
  expect: success,
  keep: { token: 'access_token' },
})

const alice = { sub: '1', name: 'Alice Smith', given_name: 'Alice', family_name: 'Smith' } as const
const challenge = (more: string) => ({ 'www-authenticate': new RegExp(`^Bearer realm="${issuer}"${more}$`, 'u') })
const inactive = { ...success, body: '{"active":false}' } as const
const seconds = expect.any(Number)

const introspect = (name: string, by = basic(api1)): Step['send'] => {
  return (kept) => form('/connect/introspect', { token: kept[name] ?? '' }, by)
}

export const protectedCases: readonly ContractCase[] = [
  {
    name: 'userinfo: returns the claims of the granted scopes for GET and POST',
    steps: [
      signIn('openid profile roles'),
      {
        send: ({ token }) => get('/connect/userinfo', bearer(token)),
        expect: { ...success, json: { ...alice, role: ['admin', 'editor'] } },
      },
      {
        send: ({ token }) => ({ ...get('/connect/userinfo', bearer(token)), method: 'HEAD' }),
        expect: { ...success, body: '' },
      },
      {
        send: ({ token = '' }) => form('/connect/userinfo', { access_token: token }),
        expect: { ...success, json: { ...alice, role: ['admin', 'editor'] } },
      },
      {
        send: ({ token }) => form('/connect/userinfo', {}, `bearer ${token}`),
        expect: { ...success, json: { ...alice, role: ['admin', 'editor'] } },
      },
    ],
  },
  {
    name: 'userinfo: returns a challenge without a body if there is no token',
    steps: [
      {
        send: get('/connect/userinfo'),
        expect: { status: 401, headers: { ...challenge(''), 'content-type': undefined, pragma: 'no-cache' }, body: '' },
      },
      {
        send: { method: 'POST', target: '/connect/userinfo', headers: [['Content-Length', '0']] },
        expect: { status: 401, headers: challenge(''), body: '' },
      },
      {
        send: { target: '/connect/userinfo', headers: [['Authorization', 'Foo Bar']] },
        expect: { status: 401, headers: challenge(''), body: '' },
      },
    ],
  },
  {
    name: 'userinfo: reports an invalid token in header and body',
    steps: [
      {
        send: get('/connect/userinfo', bearer('none')),
        expect: refused(401, 'invalid_token', challenge(', error="invalid_token", error_description="[^"]+"')),
      },
    ],
  },
  {
    name: 'userinfo: rejects a token without openid and names the scope',
    steps: [
      signIn('api1'),
      {
        send: ({ token }) => get('/connect/userinfo', bearer(token)),
        expect: refused(
          403,
          'insufficient_scope',
          challenge(', error="insufficient_scope", error_description="[^"]+", scope="openid"'),
        ),
      },
    ],
  },
  {
    name: 'userinfo: ignores a token in the query',
    steps: [
      signIn('openid'),
      { send: ({ token }) => get(`/connect/userinfo?access_token=${token}`), expect: { status: 401, body: '' } },
    ],
  },
  {
    name: 'introspection: describes an active token, opaque and JWT',
    steps: [basic(web), basic(webJwt)].flatMap((by) => [
      signIn('openid api1', by),
      {
        send: introspect('token'),
        expect: {
          ...success,
          json: expect.objectContaining({
            active: true,
            sub: '1',
            scope: 'api1',
            iss: issuer,
            token_type: 'Bearer',
            exp: seconds,
            iat: seconds,
          }),
        },
      },
    ]),
  },
  {
    name: 'introspection: returns only active: false for an unknown token and for one without the calling scope',
    steps: [
      { send: form('/connect/introspect', { token: 'none' }, basic(api1)), expect: inactive },
      signIn('api1'),
      { send: introspect('token', basic(api2)), expect: inactive },
    ],
  },
  {
    name: 'introspection: rejects wrong credentials and a missing token',
    steps: [
      {
        send: form('/connect/introspect', { token: 'none' }, basic(['api1', 'wrong'])),
        expect: refused(401, 'invalid_client', { 'www-authenticate': `Basic realm="${issuer}"` }),
      },
      { send: form('/connect/introspect', {}, basic(api1)), expect: refused(400, 'invalid_request') },
    ],
  },
  {
    name: 'revocation: makes a token inactive, opaque and JWT; accepts an unknown token',
    steps: [
      ...[web, webJwt].flatMap((client): Step[] => [
        signIn('api1', basic(client)),
        {
          send: ({ token = '' }) => form('/connect/revocation', { token }, basic(client)),
          expect: { status: 200, headers: { 'cache-control': 'no-store', pragma: 'no-cache' }, body: '' },
        },
        { send: introspect('token'), expect: inactive },
      ]),
      { send: form('/connect/revocation', { token: 'none' }, basic(web)), expect: { status: 200, body: '' } },
    ],
  },
  {
    name: 'revocation: rejects a client without credentials and a missing token',
    steps: [
      {
        send: form('/connect/revocation', { token: 'none' }),
        expect: refused(401, 'invalid_client', { 'www-authenticate': `Basic realm="${issuer}"` }),
      },
      { send: form('/connect/revocation', {}, basic(web)), expect: refused(400, 'invalid_request') },
    ],
  },
  {
    name: 'access token validation: returns the claims with their JSON types for GET and POST',
    steps: [
      signIn('openid api1', basic(webJwt)),
      ...['GET', 'POST'].map(
        (method): Step => ({
          send: ({ token = '' }) =>
            method === 'GET'
              ? get(`/connect/accesstokenvalidation?token=${token}&expectedScope=api1`)
              : form('/connect/accesstokenvalidation', { token, expectedScope: 'api1' }),
          expect: {
            ...success,
            json: expect.objectContaining({ iss: issuer, sub: '1', scope: 'openid api1', exp: seconds }),
          },
        }),
      ),
    ],
  },
  {
    name: 'access token validation: rejects a missing token, an invalid token, and one without the expected scope',
    steps: [
      { send: get('/connect/accesstokenvalidation'), expect: refused(400, 'invalid_request') },
      { send: get('/connect/accesstokenvalidation?token=none'), expect: refused(400, 'invalid_token') },
      signIn('api1'),
      {
        send: ({ token = '' }) => form('/connect/accesstokenvalidation', { token, expectedScope: 'api2' }),
        expect: refused(400, 'insufficient_scope'),
      },
    ],
  },
  {
    name: 'identity token validation: returns every claim as text for GET and POST',
    steps: [
      { send: get(`${codePath}?public`), expect: { status: 200 }, keep: { code: 'code' } },
      {
        send: ({ code = '' }) =>
          form('/connect/token', {
            grant_type: 'authorization_code',
            client_id: 'spa',
            code,
            redirect_uri: redirectUri,
            code_verifier: proof.verifier,
          }),
        expect: success,
        keep: { token: 'id_token' },
      },
      ...['GET', 'POST'].map(
        (method): Step => ({
          send: ({ token = '' }) =>
            method === 'GET'
              ? get(`/connect/identitytokenvalidation?token=${token}&client_id=spa`)
              : form('/connect/identitytokenvalidation', { token, client_id: 'spa' }),
          expect: {
            ...success,
            json: expect.objectContaining({
              iss: issuer,
              aud: 'spa',
              sub: '1',
              amr: 'pwd',
              nonce: 'n-0S6_WzA2Mj',
              exp: expect.stringMatching(/^\d{10,}$/u),
            }),
          },
        }),
      ),
      {
        send: ({ token = '' }) => form('/connect/identitytokenvalidation', { token, client_id: 'web' }),
        expect: refused(400, 'invalid_token'),
      },
    ],
  },
  {
    name: 'identity token validation: rejects a missing and an invalid token',
    steps: [
      { send: get('/connect/identitytokenvalidation?client_id=spa'), expect: refused(400, 'invalid_request') },
      {
        send: get('/connect/identitytokenvalidation?client_id=spa&token=e30.e30.x'),
        expect: { ...refused(400, 'invalid_token'), headers: { ...common, 'www-authenticate': undefined } },
      },
    ],
  },
]
