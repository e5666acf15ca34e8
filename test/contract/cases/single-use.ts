import { basic } from '@grantry/testing'
import { decodeJwt } from 'jose'
import { expect } from 'vitest'
import { api1, otherClient, proof, redirectUri, web } from '../../support/fixture.ts'
import type { ContractCase, Step } from '../contract-case.ts'
import { codePath, issuer, strict } from '../provider.ts'
import { form, get, jwt, opaque, refused, success } from './common.ts'

const token = (fields: Readonly<Record<string, string | undefined>>, authorization?: string) =>
  form('/connect/token', fields as Record<string, string>, authorization)

/** Requests a code from the login page of the host, for the public client with PKCE or for the confidential client. */
const code = (query = ''): Step => ({
  send: get(codePath + query),
  expect: { status: 200 },
  keep: { code: 'code' },
})

const redeem = (more: Readonly<Record<string, string>> = {}, by = basic(web)): Step['send'] => {
  return ({ code }) => token({ grant_type: 'authorization_code', code, redirect_uri: redirectUri, ...more }, by)
}

const redeemPublic =
  (more: Readonly<Record<string, string>>): Step['send'] =>
  ({ code }) =>
    token({ grant_type: 'authorization_code', client_id: 'spa', code, redirect_uri: redirectUri, ...more })

const refresh = (name: string, more: Readonly<Record<string, string>> = {}, by = basic(web)): Step['send'] => {
  return (kept) => token({ grant_type: 'refresh_token', refresh_token: kept[name], ...more }, by)
}

const scope = 'openid profile offline_access api1'
const tokens = { access_token: opaque, token_type: 'Bearer', expires_in: 3600, scope, refresh_token: opaque }
const withIdentity = { ...tokens, id_token: jwt }
const invalidGrant = refused(400, 'invalid_grant')

const signIn = (client: string, secret: string): Step => ({
  send: token(
    { grant_type: 'password', username: 'alice', password: 'alice-password', scope: 'offline_access api1' },
    basic([client, secret]),
  ),
  expect: { ...success, json: { ...tokens, scope: 'offline_access api1' } },
  keep: { first: 'refresh_token', access: 'access_token' },
})

const byStrict = basic([strict.id, strict.secret])

export const singleUseCases: readonly ContractCase[] = [
  {
    name: 'code: returns access, refresh and identity token for a code with its verifier',
    steps: [
      code('?public'),
      {
        send: redeemPublic({ code_verifier: proof.verifier }),
        expect: {
          ...success,
          json: withIdentity,
          check(body) {
            const { iss, aud, sub, nonce, amr } = decodeJwt(JSON.parse(body).id_token)
            expect({ iss, aud, sub, nonce, amr }).toEqual({
              iss: issuer,
              aud: 'spa',
              sub: '1',
              nonce: 'n-0S6_WzA2Mj',
              amr: ['pwd'],
            })
          },
        },
      },
    ],
  },
  {
    name: 'code: rejects a missing or wrong verifier without spending the code',
    steps: [
      code('?public'),
      { send: redeemPublic({}), expect: refused(400, 'invalid_grant') },
      { send: redeemPublic({ code_verifier: 'x'.repeat(43) }), expect: invalidGrant },
      { send: redeemPublic({ code_verifier: proof.verifier }), expect: { ...success, json: withIdentity } },
    ],
  },
  {
    name: 'code: binds the code of a confidential client to the client and its redirect URI',
    steps: [
      code(),
      { send: redeem({}, basic(otherClient)), expect: invalidGrant },
      { send: redeem({ redirect_uri: `${redirectUri}/` }), expect: invalidGrant },
      { send: redeem(), expect: { ...success, json: withIdentity } },
    ],
  },
  {
    name: 'code: accepts a code once, and revokes its tokens on a replay',
    steps: [
      code(),
      { send: redeem(), expect: { ...success, json: withIdentity }, keep: { access: 'access_token' } },
      { send: redeem(), expect: invalidGrant },
      {
        send: ({ access = '' }) => form('/connect/introspect', { token: access }, basic(api1)),
        expect: { ...success, json: { active: false } },
      },
    ],
  },
  {
    name: 'refresh: rotates the token, and returns the identical bytes to a retry',
    steps: [
      signIn(...web),
      {
        send: refresh('first'),
        expect: {
          ...success,
          json: { ...tokens, scope: 'offline_access api1' },
          check: (body, { first }) => expect(JSON.parse(body).refresh_token).not.toBe(first),
        },
        keep: { second: 'refresh_token' },
      },
      {
        send: refresh('first'),
        expect: { ...success, check: (body, { second }) => expect(JSON.parse(body).refresh_token).toBe(second) },
      },
      { send: refresh('second'), expect: { ...success, json: { ...tokens, scope: 'offline_access api1' } } },
    ],
  },
  {
    name: 'refresh: a replay revokes the successor and the access token',
    steps: [
      signIn(strict.id, strict.secret),
      {
        send: refresh('first', {}, byStrict),
        expect: { ...success, json: { ...tokens, scope: 'offline_access api1' } },
        keep: { second: 'refresh_token' },
      },
      { send: refresh('first', {}, byStrict), expect: invalidGrant },
      { send: refresh('second', {}, byStrict), expect: invalidGrant },
      {
        send: ({ access = '' }) => form('/connect/introspect', { token: access }, basic(api1)),
        expect: { ...success, json: { active: false } },
      },
    ],
  },
  {
    name: 'refresh: narrows the scope and never widens it',
    steps: [
      signIn(...web),
      { send: refresh('first', { scope: 'api1 api2' }), expect: refused(400, 'invalid_scope') },
      {
        send: refresh('first', { scope: 'api1' }),
        expect: { ...success, json: expect.objectContaining({ access_token: opaque, scope: 'api1' }) },
      },
    ],
  },
  {
    name: 'rejects an unknown code and an unknown refresh token',
    steps: [
      {
        send: token({ grant_type: 'authorization_code', code: 'x', redirect_uri: redirectUri }, basic(web)),
        expect: invalidGrant,
      },
      { send: token({ grant_type: 'refresh_token', refresh_token: 'x' }, basic(web)), expect: invalidGrant },
    ],
  },
]
