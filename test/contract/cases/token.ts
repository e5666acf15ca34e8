import { basic } from '@grantry/testing'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import { expect } from 'vitest'
import { web, webJwt } from '../../support/fixture.ts'
import type { ContractCase } from '../contract-case.ts'
import { issuer, unicode } from '../provider.ts'
import { form, jwt, opaque, post, refused, success } from './common.ts'

const token = (fields: Readonly<Record<string, string>>, authorization?: string) =>
  form('/connect/token', fields, authorization)

const forApi1 = { grant_type: 'client_credentials', scope: 'api1' } as const
const byPassword = { grant_type: 'password', username: 'alice', password: 'alice-password', scope: 'api1' } as const
const challenge = { 'www-authenticate': `Basic realm="${issuer}"` } as const
const issued = { access_token: opaque, token_type: 'Bearer', expires_in: 3600, scope: 'api1' } as const

export const tokenCases: readonly ContractCase[] = [
  {
    name: 'client credentials: returns an opaque token',
    steps: [{ send: token(forApi1, basic(web)), expect: { ...success, json: issued } }],
  },
  {
    name: 'client credentials: returns a JWT with issuer, audience, client and scope',
    steps: [
      {
        send: token(forApi1, basic(webJwt)),
        expect: {
          ...success,
          json: { ...issued, access_token: jwt },
          check(body) {
            const { access_token } = JSON.parse(body)
            expect(decodeProtectedHeader(access_token)).toEqual({ alg: 'ES256', typ: 'at+jwt', kid: 'contract' })
            expect(decodeJwt(access_token)).toMatchObject({
              iss: issuer,
              aud: 'https://api1.example.com',
              client_id: 'web-jwt',
              scope: 'api1',
            })
          },
        },
      },
    ],
  },
  {
    name: 'authenticates a client by the form',
    steps: [
      {
        send: token({ ...forApi1, client_id: web[0], client_secret: web[1] }),
        expect: { ...success, json: issued },
      },
    ],
  },
  {
    name: 'rejects credentials in both the header and the form',
    steps: [
      { send: token({ ...forApi1, client_secret: web[1] }, basic(web)), expect: refused(400, 'invalid_request') },
    ],
  },
  {
    name: 'accepts UTF-8 in a Basic header',
    steps: [
      {
        send: token(forApi1, basic([unicode.id, unicode.secret])),
        expect: { ...success, json: { ...issued, access_token: jwt } },
      },
    ],
  },
  {
    name: 'rejects a wrong client secret with a challenge',
    steps: [{ send: token(forApi1, basic(['web', 'wrong'])), expect: refused(401, 'invalid_client', challenge) }],
  },
  {
    name: 'rejects a client without credentials with a challenge',
    steps: [{ send: token(forApi1), expect: refused(401, 'invalid_client', challenge) }],
  },
  {
    name: 'password: returns an access token and a refresh token',
    steps: [
      {
        send: token({ ...byPassword, scope: 'openid offline_access api1' }, basic(web)),
        expect: { ...success, json: { ...issued, scope: 'openid offline_access api1', refresh_token: opaque } },
      },
    ],
  },
  {
    name: 'password: accepts non-ASCII credentials, and spaces as + and as %20',
    steps: ['+', '%20'].map((space) => ({
      send: post(
        '/connect/token',
        `grant_type=password&scope=openid${space}api1&username=zo%C3%AB&password=p%C3%A4${space}ss%2Bw%C3%B6rd${space}%26${space}%F0%9F%98%80`,
        basic([unicode.id, unicode.secret]),
      ),
      expect: { ...success, json: { ...issued, access_token: jwt, scope: 'openid api1' } },
    })),
  },
  {
    name: 'accepts UTF-8 bytes in a form without percent encoding',
    steps: [
      {
        send: post(
          '/connect/token',
          `grant_type=password&scope=api1&username=${unicode.user}&password=pä+ss%2Bwörd+%26+😀`,
          basic([unicode.id, unicode.secret]),
        ),
        expect: { ...success, json: { ...issued, access_token: jwt } },
      },
    ],
  },
  {
    name: 'password: rejects a wrong password',
    steps: [
      { send: token({ ...byPassword, password: 'wrong' }, basic(web)), expect: refused(400, 'invalid_grant') },
      { send: token({ ...byPassword, username: 'absent' }, basic(web)), expect: refused(400, 'invalid_grant') },
    ],
  },
  {
    name: 'rejects a missing and an unknown grant type',
    steps: [
      { send: token({ scope: 'api1' }, basic(web)), expect: refused(400, 'invalid_request') },
      {
        send: token({ ...forApi1, grant_type: 'urn:example:none' }, basic(web)),
        expect: refused(400, 'unsupported_grant_type'),
      },
    ],
  },
  {
    name: 'rejects a grant type that is not allowed for the client',
    steps: [{ send: token({ ...forApi1, client_id: 'spa' }), expect: refused(400, 'unauthorized_client') }],
  },
  {
    name: 'rejects a missing and an unknown scope',
    steps: [
      { send: token({ grant_type: 'client_credentials' }, basic(web)), expect: refused(400, 'invalid_scope') },
      { send: token({ ...forApi1, scope: 'api1 none' }, basic(web)), expect: refused(400, 'invalid_scope') },
    ],
  },
]
