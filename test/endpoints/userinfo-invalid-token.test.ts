import type { ClientOptions } from '@grantry/core'
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import { describe, expect, test } from 'vitest'
import { formats, tokenOfAlice } from '../support/access-token.ts'
import { clients, type Fixture, fixture, redirectUri, web } from '../support/fixture.ts'

const accessToken = (f: Fixture, client: typeof web) => tokenOfAlice(f, client, 'openid profile')

const send = (f: Fixture, token: string) => f.get('userinfo', {}, { authorization: `Bearer ${token}` })

async function expectInvalid(f: Fixture, token: string, reason: string): Promise<void> {
  const inHeader = await send(f, token)
  const inForm = await f.post('userinfo', { access_token: token })
  for (const response of [inHeader, inForm]) {
    expect(response.status).toBe(401)
    // The same bytes for every reason.
    expect(response.body).toEqual({ error: 'invalid_token', error_description: 'The access token is not valid' })
    expect(response.headers.get('www-authenticate')).toBe(
      'Bearer realm="https://id.example.com", error="invalid_token", error_description="The access token is not valid"',
    )
  }
  expect(f.events.at(-2)).toMatchObject({ type: 'validation_failed', tokenType: 'access_token', reason })
  expect(f.events.at(-1)).toMatchObject({ type: 'endpoint_failed', status: 401, error: 'invalid_token', reason })
}

describe.each(formats)('a %s', (_, client) => {
  test('5.7 is valid until the second before exp, and no longer', async () => {
    const f = await fixture()
    const token = await accessToken(f, client)
    f.clock.advance(3599)
    expect((await send(f, token)).status).toBe(200)
    f.clock.advance(1)
    await expectInvalid(f, token, 'token_unknown')
  })

  test('5.7 is invalid once its family is revoked', async () => {
    const f = await fixture()
    const code = await f.code({ clientId: client[0] })
    const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri }
    const token = (await f.post('token', form, client)).body.access_token
    expect((await send(f, token)).status).toBe(200)
    expect((await f.post('token', form, client)).body.error).toBe('invalid_grant')
    await expectInvalid(f, token, 'family_revoked')
  })

  test('5.7 is invalid once its client is disabled', async () => {
    const table = new Map<string, ClientOptions>(clients.map((known) => [known.clientId, known]))
    const f = await fixture({ clients: { find: (id) => table.get(id) } })
    const token = await accessToken(f, client)
    expect((await send(f, token)).status).toBe(200)
    table.set(client[0], { ...(table.get(client[0]) as ClientOptions), enabled: false })
    await expectInvalid(f, token, 'client_disabled')
    table.delete(client[0])
    await expectInvalid(f, token, 'client_disabled')
  })

  test('5.7 is invalid while its user is inactive', async () => {
    const f = await fixture()
    const token = await accessToken(f, client)
    Object.assign(f.users.alice ?? {}, { active: false })
    await expectInvalid(f, token, 'user_inactive')
    Object.assign(f.users.alice ?? {}, { active: true })
    expect((await send(f, token)).status).toBe(200)
  })

  test('5.7 is invalid when one character is changed', async () => {
    const f = await fixture()
    const token = await accessToken(f, client)
    const middle = token.length >> 1
    const changed = token.slice(0, middle) + (token[middle] === 'A' ? 'B' : 'A') + token.slice(middle + 1)
    await expectInvalid(f, changed, 'token_unknown')
  })
})

test('5.7 rejects a code, a refresh token and an identity token', async () => {
  const f = await fixture()
  await expectInvalid(f, await f.code(), 'token_unknown')
  const form = { grant_type: 'authorization_code', code: await f.code(), redirect_uri: redirectUri }
  const { refresh_token, id_token } = (await f.post('token', form, web)).body
  await expectInvalid(f, refresh_token, 'token_unknown')
  await expectInvalid(f, id_token, 'token_unknown')
})

test('5.7 rejects a token for a foreign audience', async () => {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true })
  const f = await fixture({ keys: [{ ...(await exportJWK(privateKey)), kid: 'ours', alg: 'ES256' }] })
  const now = f.clock.now()
  const times = { iat: now, nbf: now, exp: now + 60 }
  const ours = { iss: 'https://id.example.com', aud: 'https://id.example.com/resources', client_id: 'web', sub: '1' }
  const sign = (claims: JWTPayload, typ = 'at+jwt') =>
    new SignJWT({ ...times, ...ours, scope: 'openid', ...claims })
      .setProtectedHeader({ alg: 'ES256', kid: 'ours', typ })
      .sign(privateKey)
  expect((await send(f, await sign({}))).status).toBe(200)
  await expectInvalid(f, await sign({ aud: 'https://elsewhere.example.com' }), 'wrong_audience')
  await expectInvalid(f, await sign({ aud: 'web' }), 'wrong_audience')
  await expectInvalid(f, await sign({}, 'JWT'), 'token_unknown')
  await expectInvalid(f, await sign({ iss: 'https://elsewhere.example.com' }), 'token_unknown')
  await expectInvalid(f, await sign({ nbf: now + 1 }), 'token_unknown')
})
