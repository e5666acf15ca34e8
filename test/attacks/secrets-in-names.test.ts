/**
 * Attack: an attacker reads the log. Clients, APIs and users mix up their fields and send a client secret as the client
 * id, a scope's secret as its name, or a password as the user name. None of them may reach an event.
 */
import type { ProviderEvent } from '@grantry/core'
import { basic } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { api1, clients, type Fixture, fixture, web } from '../support/fixture.ts'

const forClient = { grant_type: 'client_credentials', scope: 'api1' }
const forUser = { grant_type: 'password', scope: 'api1' }
const secret = 'a-secret-that-stands-in-the-place-of-an-id'

async function fingerprint(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return Buffer.from(digest).toString('hex').slice(0, 8)
}

function lastOf<T extends ProviderEvent['type']>({ events }: Fixture, type: T) {
  return events.filter((event): event is Extract<ProviderEvent, { type: T }> => event.type === type).at(-1)
}

describe('a secret sent as the client id', () => {
  test.each([
    ['Basic', (f: Fixture) => f.post('token', forClient, [secret, web[0]])],
    ['the form', (f: Fixture) => f.post('token', { ...forClient, client_id: secret, client_secret: web[0] })],
    ['the form, alone', (f: Fixture) => f.post('token', { ...forClient, client_id: secret })],
    ['the form, beside another in Basic', (f: Fixture) => f.post('token', { ...forClient, client_id: secret }, web)],
    ['revocation', (f: Fixture) => f.post('revocation', { token: 'x' }, [secret, web[0]])],
  ])('10.20 appears in the event only as a fingerprint: %s', async (_, attempt) => {
    const f = await fixture()
    await attempt(f)
    expect(JSON.stringify(f.events)).not.toContain(secret)
    expect(lastOf(f, 'client_authentication_failed')?.presentedClientId).toBeUndefined()
  })

  test('10.20 the fingerprint is that of the presented value, so that an operator can compare', async () => {
    const f = await fixture()
    await f.post('token', forClient, [secret, 'x'])
    expect(lastOf(f, 'client_authentication_failed')).toMatchObject({
      presentedFingerprint: await fingerprint(secret),
      reason: 'client_unknown',
    })
  })

  test('10.20 also with a client store', async () => {
    const f = await fixture({ clients: { find: (id) => clients.find(({ clientId }) => clientId === id) } })
    await f.post('token', forClient, [secret, 'x'])
    expect(JSON.stringify(f.events)).not.toContain(secret)
    await f.post('token', forClient, ['web', 'x'])
    expect(lastOf(f, 'client_authentication_failed')?.presentedClientId).toBe('web')
  })

  // Neither the presence of a fingerprint nor the time it takes may distinguish a client id from a secret.
  test('10.20 the id of a client has a fingerprint, too', async () => {
    const f = await fixture()
    await f.post('token', forClient, ['web', 'x'])
    expect(lastOf(f, 'client_authentication_failed')?.presentedFingerprint).toBe(await fingerprint('web'))
  })

  test('10.20 a form-encoded id of a client is named', async () => {
    const f = await fixture()
    await f.post('token', forClient, ['web%2Djwt', 'x'])
    expect(lastOf(f, 'client_authentication_failed')?.presentedClientId).toBe('web-jwt')
  })
})

describe('a secret sent as the scope name', () => {
  test('10.20 has a fingerprint in the event of introspection', async () => {
    const f = await fixture()
    await f.post('introspection', { token: 'x' }, [secret, api1[0]])
    await f.post('introspection', { token: 'x', client_id: secret, client_secret: 'x' })
    expect(JSON.stringify(f.events)).not.toContain(secret)
    expect(lastOf(f, 'introspection_denied')).toMatchObject({
      presentedFingerprint: await fingerprint(secret),
      reason: 'scope_unknown',
    })
  })

  test('10.20 the name of a scope is named', async () => {
    const f = await fixture()
    await f.post('introspection', { token: 'x' }, ['api1', 'x'])
    expect(lastOf(f, 'introspection_denied')).toMatchObject({ presentedScope: 'api1', reason: 'secret_mismatch' })
  })
})

describe('a password sent as the user name', () => {
  const password = 'correct horse battery staple'
  const typed = { ...forUser, username: password, password: 'alice' }

  test('10.20 is not in the event', async () => {
    const f = await fixture()
    await f.post('token', typed, web)
    await f.provider.authenticateUser({ username: password, password: 'alice' }, {})
    await f.provider.authenticateUser({ username: password, password: '' }, {})
    expect(f.events.filter(({ type }) => type === 'user_authentication_failed')).toHaveLength(3)
    expect(JSON.stringify(f.events)).not.toContain(password)
  })

  test('10.20 has a fingerprint that cannot be looked up, and is the same for the same name', async () => {
    const [f, otherProvider] = [await fixture(), await fixture()]
    const seen: (string | undefined)[] = []
    for (const provider of [f, f, otherProvider]) {
      await provider.post('token', typed, web)
      seen.push(lastOf(provider, 'user_authentication_failed')?.usernameFingerprint)
    }
    expect(seen[0]).toMatch(/^[0-9a-f]{8}$/u)
    expect(seen[1]).toBe(seen[0])
    expect(seen[2]).not.toBe(seen[0])
    expect(seen).not.toContain(await fingerprint(password))
  })

  test('10.20 a name that has authenticated before is named', async () => {
    const f = await fixture()
    await f.post('token', { ...forUser, username: 'alice', password: 'x' }, web)
    expect(lastOf(f, 'user_authentication_failed')).not.toHaveProperty('username')
    await f.post('token', { ...forUser, username: 'alice', password: 'alice-password' }, web)
    await f.post('token', { ...forUser, username: 'alice', password: 'x' }, web)
    expect(lastOf(f, 'user_authentication_failed')).toMatchObject({ username: 'alice' })
  })
})

test('10.20 a secret in any other field of a request is in no event', async () => {
  const f = await fixture()
  const everywhere = {
    grant_type: secret,
    scope: secret,
    redirect_uri: secret,
    code: secret,
    refresh_token: secret,
    code_verifier: secret,
    resource: secret,
    [secret]: secret,
  }
  for (const grant_type of [secret, 'client_credentials', 'authorization_code', 'refresh_token', 'password']) {
    await f.post('token', { ...everywhere, grant_type, username: secret, password: secret }, web)
  }
  const headers = { authorization: basic([secret, secret]), origin: secret, 'user-agent': secret, cookie: secret }
  for (const endpoint of ['userinfo', 'accessTokenValidation', 'identityTokenValidation', 'discovery'] as const) {
    await f.get(endpoint, { token: secret, client_id: secret, expectedScope: secret, [secret]: secret }, headers)
  }
  await f.post('introspection', { token: secret, token_type_hint: secret }, api1)
  await f.post('revocation', { token: secret, token_type_hint: secret }, web)
  expect(f.events.length).toBeGreaterThanOrEqual(20)
  expect(JSON.stringify(f.events)).not.toContain(secret)
})
