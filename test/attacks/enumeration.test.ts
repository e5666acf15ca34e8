/**
 * Attack: an attacker compares responses to learn which clients, scopes, users or tokens exist, or that a stolen secret
 * is right but expired.
 *
 * RFC 6749 section 5.2 has one error for every failed client authentication; RFC 7662 section 2.2: `active: false`
 * without a reason. That body and headers are the same byte for byte is hardening. Timing is not covered here.
 */

import { basic, sha256Of, type TestResponse } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import {
  api1,
  api2,
  clients,
  type Fixture,
  fixture,
  lastReason,
  otherClient,
  redirectUri,
  scopes,
  spaClientId,
  web,
} from '../support/fixture.ts'

const past = 1_700_000_000
const extraClients = [
  { clientId: 'disabled', enabled: false },
  { clientId: 'expired', secrets: [{ sha256: sha256Of('right'), expiresAt: past }, { sha256: sha256Of('live') }] },
].map((more) => ({
  secrets: [{ sha256: sha256Of('right') }],
  grantTypes: ['client_credentials'],
  scopes: ['api1'],
  ...more,
}))
const extraScopes = [
  { name: 'disabled', enabled: false, secrets: [{ sha256: sha256Of('right') }] },
  { name: 'expired', secrets: [{ sha256: sha256Of('right'), expiresAt: past }] },
  { name: 'without-secrets' },
]
const setting = () => fixture({ clients: [...clients, ...extraClients], scopes: [...scopes, ...extraScopes] })

const shown = ({ status, headers, body }: TestResponse) => ({ status, headers: [...headers].sort(), body })

const unknownClients: readonly [string, readonly [string, string]][] = [
  ['an unknown client', ['absent', 'right']],
  ['a wrong secret', [web[0], 'wrong']],
  ['the secret of another client', [web[0], otherClient[1]]],
  ['a wrong secret with the same beginning', [web[0], `${web[1]}x`]],
  ['an empty secret', [web[0], '']],
  ['an empty name', ['', 'right']],
  ['a disabled client with its right secret', ['disabled', 'right']],
  ['a right secret that has expired', ['expired', 'right']],
  ['a public client with a secret', [spaClientId, 'right']],
  ['the name in another case', [web[0].toUpperCase(), web[1]]],
  ['a name that is too long', ['x'.repeat(101), 'right']],
  ['a secret that is too long', [web[0], 'x'.repeat(513)]],
  ['the stored hash instead of the secret', [web[0], sha256Of(web[1])]],
]

describe('clients', () => {
  test.each(unknownClients)(
    '%s gets the same response as every other failure, by header and by form',
    async (_, [id, secret]) => {
      const f = await setting()
      const form = { grant_type: 'client_credentials', scope: 'api1' }
      const reference = shown(await f.post('token', form, ['absent', 'nothing']))
      expect(reference).toMatchObject({ status: 401, body: { error: 'invalid_client' } })
      expect(shown(await f.post('token', form, [id, secret]))).toEqual(reference)
      expect(shown(await f.post('token', { ...form, client_id: id, client_secret: secret }))).toEqual(reference)
    },
  )

  test('no credentials, a name alone and a malformed header get the same response too', async () => {
    const f = await setting()
    const form = { grant_type: 'client_credentials', scope: 'api1' }
    const reference = shown(await f.post('token', form, ['absent', 'nothing']))
    expect(shown(await f.post('token', form))).toEqual(reference)
    for (const client_id of [web[0], 'absent', 'disabled']) {
      expect(shown(await f.post('token', { ...form, client_id }))).toEqual(reference)
    }
  })

  test('the rest of the request does not matter before the client is authenticated', async () => {
    const f = await setting()
    const reference = shown(await f.post('token', {}, ['absent', 'nothing']))
    for (const form of [
      { grant_type: 'x' },
      { grant_type: 'password', scope: 'admin' },
      { grant_type: 'authorization_code' },
    ]) {
      expect(shown(await f.post('token', form as Record<string, string>, [web[0], 'wrong']))).toEqual(reference)
    }
  })

  test('identity token validation does not reveal the name of a client', async () => {
    const f = await setting()
    const code = await f.code()
    const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri }
    const { id_token: token } = (await f.post('token', form, web)).body
    const reference = shown(await f.post('identityTokenValidation', { token: 'x', client_id: 'absent' }))
    for (const client_id of ['absent', otherClient[0], 'disabled', spaClientId]) {
      expect(shown(await f.post('identityTokenValidation', { token, client_id }))).toEqual(reference)
    }
  })
})

describe('scopes', () => {
  test.each<[string, readonly [string, string]]>([
    ['a wrong secret', [api1[0], 'wrong']],
    ['the secret of another scope', [api1[0], api2[1]]],
    ['a disabled scope with its right secret', ['disabled', 'right']],
    ['a right secret that has expired', ['expired', 'right']],
    ['a scope without secrets', ['without-secrets', '']],
    ['an identity scope', ['openid', '']],
    ['a client', web],
  ])('%s gets the response for an unknown scope, whatever the token', async (_, credentials) => {
    const f = await setting()
    const { access_token } = (await f.post('token', { grant_type: 'client_credentials', scope: 'api1' }, web)).body
    const reference = shown(await f.post('introspection', { token: 'x' }, ['absent', 'nothing']))
    expect(reference).toMatchObject({ status: 401, body: { error: 'invalid_client' } })
    for (const token of ['x', access_token, '']) {
      expect(shown(await f.post('introspection', { token }, credentials))).toEqual(reference)
    }
  })
})

describe('tokens', () => {
  test('unknown, foreign, expired and malformed ones are equally inactive', async () => {
    const f = await setting()
    const password = { grant_type: 'password', username: 'alice', password: 'alice-password' }
    const { body: foreign } = await f.post('token', { ...password, scope: 'api2' }, web)
    const { body: expired } = await f.post('token', { ...password, scope: 'api1 offline_access' }, web)
    f.clock.advance(3600)
    const reference = shown(await f.post('introspection', { token: 'unknown' }, api1))
    for (const token of [foreign.access_token, expired.access_token, expired.refresh_token, 'a.b.c', '\u0000']) {
      expect(shown(await f.post('introspection', { token }, api1))).toEqual(reference)
    }
  })
})

describe('users', () => {
  const send = (f: Fixture, username: string, password: string) =>
    f.post('token', { grant_type: 'password', username, password, scope: 'openid' }, web)

  test.each([
    ['a wrong password', 'alice', 'wrong'],
    ['the password of another user', 'alice', 'bob-password'],
    ['an inactive user with the right password', 'bob', 'bob-password'],
    ['the name in another case', 'ALICE', 'alice-password'],
    ['a property name of the prototype', '__proto__', 'x'],
  ])('%s gets the response for an unknown user', async (_, username, password) => {
    const f = await setting()
    if (f.users.bob !== undefined) f.users.bob.active = false
    const reference = shown(await send(f, 'absent', 'x'))
    expect(reference).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
    expect(shown(await send(f, username, password))).toEqual(reference)
  })

  test('an unknown user is throttled like a known one', async () => {
    const f = await setting()
    const responses = async (username: string) => {
      const all = []
      for (let attempt = 0; attempt < 22; attempt += 1) all.push(shown(await send(f, username, 'wrong')))
      return all
    }
    const known = await responses('alice')
    expect(known.map(({ status }) => status)).toEqual([...Array<number>(20).fill(400), 429, 429])
    expect(lastReason(f)).toBe('too_many_failures')
    expect(await responses('absent')).toEqual(known)
  })

  test('the right password is not distinguishable while the name is throttled', async () => {
    const f = await setting()
    for (let attempt = 0; attempt < 20; attempt += 1) await send(f, 'alice', 'wrong')
    expect(shown(await send(f, 'alice', 'alice-password'))).toEqual(shown(await send(f, 'alice', 'wrong')))
  })
})

test('a header that is not a Basic pair gets the response for a wrong secret', async () => {
  const f = await setting()
  const send = async (authorization: string) => {
    const body = new URLSearchParams({ grant_type: 'client_credentials', scope: 'api1' })
    const headers = { authorization }
    const response = await f.provider.fetch(
      new Request('https://id.example.com/connect/token', { method: 'POST', headers, body }),
    )
    return shown({ status: response.status, headers: response.headers, body: await response.json() })
  }
  const reference = await send(basic(['absent', 'nothing']))
  for (const text of ['Basic', 'Basic !', 'Bearer x', 'Negotiate x', 'Basic bm9jb2xvbg=='])
    expect(await send(text)).toEqual(reference)
})
