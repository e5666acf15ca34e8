import { describe, expect, test } from 'vitest'
import { api1, fixture, lastReason, otherClient, redirectUri, web } from '../support/fixture.ts'

const grant = { grant_type: 'authorization_code', redirect_uri: redirectUri }

// Unknown, expired and spent codes, and those of other clients, share it.
const notValid = { error: 'invalid_grant', error_description: 'The authorization code is not valid' }

describe('the authorization code grant', () => {
  test.each([
    ['code is missing', { redirect_uri: redirectUri }, 'code', 'parameter_missing'],
    ['code is empty', { code: '', redirect_uri: redirectUri }, 'code', 'parameter_missing'],
    ['redirect_uri is missing', { code: 'x' }, 'redirect_uri', 'plugin:authorization_code:redirect_uri_missing'],
    [
      'redirect_uri is empty',
      { code: 'x', redirect_uri: '' },
      'redirect_uri',
      'plugin:authorization_code:redirect_uri_missing',
    ],
    ['redirect_uri has 2001', { code: 'x', redirect_uri: 'x'.repeat(2001) }, 'redirect_uri', 'parameter_malformed'],
  ])('3.24 the request is invalid when %s', async (_, form, name, reason) => {
    const f = await fixture()
    const { status, body } = await f.post('token', { grant_type: 'authorization_code', ...form }, web)
    expect(status).toBe(400)
    expect(body).toEqual({ error: 'invalid_request', error_description: expect.stringContaining(name) })
    expect(lastReason(f)).toBe(reason)
  })

  test('3.24 looks up a code and a redirect_uri of the maximum length', async () => {
    const f = await fixture()
    const form = { ...grant, code: 'x'.repeat(512), redirect_uri: 'y'.repeat(2000) }
    expect((await f.post('token', form, web)).body).toEqual(notValid)
    expect(lastReason(f)).toBe('plugin:authorization_code:code_unknown')
  })

  test.each([
    ['of 513 characters', 'x'.repeat(513)],
    ['of 60,000 characters', 'x'.repeat(60_000)],
    ['that is a JWT', 'e30.e30.e30'],
    ['that is a JWT of 5,000 characters', `e30.${'a'.repeat(4992)}.e30`],
    ['of blanks', '   '],
    ['with a line break', 'x\n'],
    ['beyond ASCII', 'ü'.repeat(43)],
  ])('3.24 a code %s is not valid', async (_, code) => {
    const f = await fixture()
    const { status, body } = await f.post('token', { ...grant, code }, web)
    expect(status).toBe(400)
    expect(body).toEqual(notValid)
    expect(lastReason(f)).toBe('plugin:authorization_code:code_unknown')
  })

  test.each([
    ['a trailing slash', `${redirectUri}/`],
    ['a query', `${redirectUri}?x=1`],
    ['a fragment', `${redirectUri}#x`],
    ['another case', 'https://web.example.com/Callback'],
    ['another case of the host', 'https://WEB.example.com/callback'],
    ['the default port', 'https://web.example.com:443/callback'],
    ['percent-encoding', 'https://web.example.com/%63allback'],
    ['a path that resolves to it', 'https://web.example.com/x/../callback'],
    ['http', 'http://web.example.com/callback'],
    ['a trailing space', `${redirectUri} `],
    ['another registered one', 'https://other.example.com/callback'],
  ])('3.25 compares redirect_uri exactly: rejects %s', async (_, wrong) => {
    const f = await fixture()
    const code = await f.code({ clientId: otherClient[0] })
    const { status, body } = await f.post('token', { ...grant, code, redirect_uri: wrong }, otherClient)
    expect(status).toBe(400)
    expect(body).toEqual(notValid)
    expect(lastReason(f)).toBe('plugin:authorization_code:redirect_uri_mismatch')
    // The code is not spent.
    expect((await f.post('token', { ...grant, code }, otherClient)).status).toBe(200)
  })

  test('3.26 a code belongs to one client, and another client cannot spend it', async () => {
    const f = await fixture()
    const code = await f.code()
    const { status, body } = await f.post('token', { ...grant, code }, otherClient)
    expect(status).toBe(400)
    expect(body).toEqual(notValid)
    expect(lastReason(f)).toBe('client_mismatch')
    const mine = await f.post('token', { ...grant, code }, web)
    expect(mine.status).toBe(200)
    expect((await f.post('introspection', { token: mine.body.access_token }, api1)).body.active).toBe(true)
  })

  test('3.26 a replay of a spent code by another client revokes nothing', async () => {
    const f = await fixture()
    const code = await f.code()
    const mine = await f.post('token', { ...grant, code }, web)
    expect((await f.post('token', { ...grant, code }, otherClient)).body).toEqual(notValid)
    expect((await f.post('introspection', { token: mine.body.access_token }, api1)).body.active).toBe(true)
    expect(f.events.map(({ type }) => type)).not.toContain('family_revoked')
  })

  test.each([
    ['one character less', (code: string) => code.slice(0, -1)],
    ['one character more', (code: string) => `${code}x`],
    ['another case', (code: string) => code.replace(/[a-z]/u, (letter) => letter.toUpperCase())],
    ['a trailing space', (code: string) => `${code} `],
  ])('3.26 compares a code exactly: rejects %s', async (_, change) => {
    const f = await fixture()
    const code = await f.code()
    expect((await f.post('token', { ...grant, code: change(code) }, web)).body).toEqual(notValid)
    expect(lastReason(f)).toBe('plugin:authorization_code:code_unknown')
  })

  test('3.31 a code has a lifetime of 60 seconds', async () => {
    const f = await fixture()
    const [early, late] = [await f.code(), await f.code()]
    f.clock.advance(59)
    expect((await f.post('token', { ...grant, code: early }, web)).status).toBe(200)
    f.clock.advance(1)
    const { status, body } = await f.post('token', { ...grant, code: late }, web)
    expect(status).toBe(400)
    expect(body).toEqual(notValid)
    expect(f.events.map(({ type }) => type)).not.toContain('family_revoked')
  })

  test('3.34 returns an identity token when openid was granted', async () => {
    const f = await fixture()
    const { body } = await f.post('token', { ...grant, code: await f.code({ scopes: ['openid', 'api1'] }) }, web)
    expect(body.id_token).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/u)
  })

  test('3.34 returns no identity token without openid, whatever else was granted', async () => {
    const f = await fixture()
    const code = await f.code({ scopes: ['profile', 'email', 'api1'], nonce: 'n' })
    const { status, body } = await f.post('token', { ...grant, code }, web)
    expect(status).toBe(200)
    expect(body).not.toHaveProperty('id_token')
  })

  test('3.35 returns a refresh token with offline_access, and only then', async () => {
    const f = await fixture()
    const without = await f.post('token', { ...grant, code: await f.code({ scopes: ['openid', 'api1'] }) }, web)
    expect(without.body).not.toHaveProperty('refresh_token')
    const { body } = await f.post(
      'token',
      { ...grant, code: await f.code({ scopes: ['api1', 'offline_access'] }) },
      web,
    )
    expect(body.refresh_token).toMatch(/^[\w-]{43,}$/u)
  })
})

describe('changes between the code and its redemption', () => {
  test('a user who is no longer active gets no token, and the code is not spent', async () => {
    const f = await fixture()
    const code = await f.code()
    const { alice } = f.users
    delete f.users.alice
    const { status, body } = await f.post('token', { ...grant, code }, web)
    expect(status).toBe(400)
    expect(body.error).toBe('invalid_grant')
    expect(lastReason(f)).toBe('user_inactive')
    Object.assign(f.users, { alice })
    expect((await f.post('token', { ...grant, code }, web)).status).toBe(200)
  })

  test('a client that lost one of the scopes gets no token', async () => {
    let scopes = ['openid', 'profile', 'offline_access', 'api1']
    const f = await fixture({
      clients: {
        find: (clientId) => ({
          clientId,
          grantTypes: ['authorization_code'],
          scopes,
          redirectUris: [redirectUri],
        }),
        verifySecret: (_, secret) => secret === web[1],
      },
    })
    const code = await f.code()
    scopes = ['openid', 'profile', 'offline_access']
    const { status, body } = await f.post('token', { ...grant, code }, web)
    expect(status).toBe(400)
    expect(body.error).toBe('invalid_grant')
    expect(lastReason(f)).toBe('scope_lost')
  })
})
