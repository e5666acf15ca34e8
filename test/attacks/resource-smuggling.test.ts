/**
 * Attack: an API receives an access token and uses it at another API, or a client with a narrow token tries to obtain one
 * for an API that the user has not consented to: with another resource, with a resource hidden in the value of another
 * one, or with a resource in the query.
 *
 * RFC 8707 section 3: a token that is restricted to an audience cannot be used elsewhere by an API that receives it.
 * RFC 8707 section 2.2: the resources of a code or refresh token are at most those that the user has granted.
 */

import { authorizationCode } from '@grantry/plugins/authorization-code'
import { refreshToken } from '@grantry/plugins/refresh-token'
import { resourceIndicators } from '@grantry/plugins/resource-indicators'
import { basic, createTestProvider, read, sha256Of, storeGrant, testClient } from '@grantry/testing'
import { describe, expect, test } from 'vitest'

const mail = 'https://mail.example.com/'
const bank = 'https://bank.example.com/'
const redirectUri = 'https://client.example.com/callback'
const [clientId, secret] = testClient

const scopeOf = (name: string, audience?: string) => ({
  name,
  audience,
  secrets: [{ sha256: sha256Of(`${name}-secret`) }],
})

/** Tokens for `mail` only: the user has consented to no other API, although the client may use both. */
async function consented() {
  const f = await createTestProvider({
    plugins: [authorizationCode(), refreshToken(), resourceIndicators()],
    scopes: [scopeOf('mail', mail), scopeOf('bank', bank), scopeOf('reports')],
    clients: [
      {
        clientId,
        secrets: [{ sha256: sha256Of(secret) }],
        grantTypes: ['authorization_code', 'refresh_token'],
        scopes: ['openid', 'mail', 'bank', 'reports', 'offline_access'],
        redirectUris: [redirectUri],
        accessTokenFormat: 'reference',
      },
    ],
    users: { isActive: () => true },
  })
  const code = await storeGrant(f.provider, {
    kind: 'code',
    clientId,
    redirectUri,
    subject: { sub: 'alice', amr: ['pwd'] },
    scopes: ['openid', 'mail', 'bank', 'reports', 'offline_access'],
    params: { resource: mail },
  })
  const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri }
  return { ...f, tokens: (await f.post('token', form, testClient)).body }
}

test('an API cannot use the token that it receives at another API', async () => {
  const { post, tokens } = await consented()
  const token = tokens.access_token
  expect((await post('introspection', { token }, ['mail', 'mail-secret'])).body).toMatchObject({
    active: true,
    aud: mail,
  })
  expect((await post('introspection', { token }, ['bank', 'bank-secret'])).body).toEqual({ active: false })
})

test('an API cannot use the token that it receives at an API whose scope has no audience', async () => {
  const { post, tokens } = await consented()
  const token = tokens.access_token
  expect(tokens.scope).toBe('openid mail offline_access')
  expect((await post('introspection', { token }, ['reports', 'reports-secret'])).body).toEqual({ active: false })
})

describe('a refresh does not reach another API', () => {
  test.each([
    ['with its resource', `&resource=${encodeURIComponent(bank)}`, 'audience_not_allowed'],
    ['with its scope', '&scope=bank', 'plugin:refresh_token:scope_widened'],
    ['with a scope without an audience', '&scope=reports', 'plugin:refresh_token:scope_widened'],
    ['hidden behind the allowed one', `&resource=${encodeURIComponent(`${mail} ${bank}`)}`, 'audience_not_allowed'],
    [
      'in a repeated parameter',
      `&resource=${encodeURIComponent(mail)}&resource=${encodeURIComponent(bank)}`,
      'audience_not_allowed',
    ],
    ['behind a tab', `&resource=${encodeURIComponent(`${mail}\t${bank}`)}`, 'plugin:resource-indicators:malformed'],
    [
      'as a user name of the allowed one',
      `&resource=${encodeURIComponent('https://mail.example.com@bank.example.com/')}`,
      'audience_not_allowed',
    ],
    ['as audience', `&audience=${encodeURIComponent(bank)}`, undefined],
  ])('%s', async (_, more, reason) => {
    const { provider, events, post, tokens } = await consented()
    const headers = { authorization: basic(testClient), 'content-type': 'application/x-www-form-urlencoded' }
    const body = `grant_type=refresh_token&refresh_token=${tokens.refresh_token}${more}`
    const url = `${provider.issuer}/connect/token?resource=${encodeURIComponent(bank)}`
    const response = await read(await provider.handlers.token(new Request(url, { method: 'POST', headers, body })))
    if (reason !== undefined) {
      const error = reason.endsWith('scope_widened') ? 'invalid_scope' : 'invalid_target'
      expect([response.status, response.body.error]).toEqual([400, error])
      expect(events.at(-1)).toMatchObject({ type: 'endpoint_failed', reason })
      return
    }
    const introspected = await post('introspection', { token: response.body.access_token }, ['bank', 'bank-secret'])
    expect(introspected.body).toEqual({ active: false })
  })
})
