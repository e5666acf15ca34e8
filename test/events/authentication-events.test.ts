import type { UserService } from '@grantry/core'
import { describe, expect, test } from 'vitest'
import { eventFact } from '../support/event-fields.ts'
import { api1, type Fixture, fixture, spaClientId, web } from '../support/fixture.ts'

/** The events of the last request, without their circumstances. */
function lastRequest({ events }: Fixture) {
  const request = events.at(-1)?.id.split('.')[0]
  return events.filter(({ id }) => id.startsWith(`${request}.`)).map(eventFact)
}

async function fingerprint(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return Buffer.from(digest).toString('hex').slice(0, 8)
}

const forClient = { grant_type: 'client_credentials', scope: 'api1' }
const forUser = { grant_type: 'password', username: 'alice', password: 'alice-password', scope: 'api1' }

test('10.2 client authentication succeeded, by the header', async () => {
  const f = await fixture()
  await f.post('token', forClient, web)
  expect(lastRequest(f)[0]).toEqual({
    type: 'client_authentication_succeeded',
    method: 'client_secret_basic',
    clientId: 'web',
  })
})

test('10.2 client authentication succeeded, by the form and by the id of a public client', async () => {
  const f = await fixture()
  await f.post('token', { ...forClient, client_id: web[0], client_secret: web[1] })
  expect(lastRequest(f)[0]).toMatchObject({ type: 'client_authentication_succeeded', method: 'client_secret_post' })
  await f.post('token', { grant_type: 'refresh_token', refresh_token: 'x', client_id: spaClientId })
  expect(lastRequest(f)[0]).toEqual({
    type: 'client_authentication_succeeded',
    method: 'none',
    clientId: spaClientId,
  })
})

test.each([
  ['a wrong secret', ['web', 'x'], 'web', 'secret_mismatch'],
  ['an unknown client', ['absent', 'x'], undefined, 'client_unknown'],
  ['a public client with a secret', [spaClientId, 'x'], spaClientId, 'client_public'],
  ['an overlong id', ['n'.repeat(500), 'x'], undefined, 'credentials_impossible'],
] as const)('10.2 client authentication failed: %s', async (_, pair, presentedClientId, reason) => {
  const f = await fixture()
  expect((await f.post('token', forClient, pair)).status).toBe(401)
  expect(lastRequest(f)).toEqual([
    // Not `clientId`, which only ever names an authenticated client.
    {
      type: 'client_authentication_failed',
      reason,
      ...(presentedClientId !== undefined && { presentedClientId }),
      presentedFingerprint: await fingerprint(pair[0]),
    },
    {
      type: 'endpoint_failed',
      status: 401,
      httpMethod: 'POST',
      duration: expect.any(Number),
      error: 'invalid_client',
      reason,
      description: 'Client authentication failed',
    },
  ])
})

test('10.2 client authentication failed: no client is named, or several methods are used', async () => {
  const f = await fixture()
  await f.post('token', forClient)
  expect(lastRequest(f)[0]).toEqual({ type: 'client_authentication_failed', reason: 'credentials_missing' })
  await f.post('token', { ...forClient, client_secret: 'x' }, web)
  expect(lastRequest(f)[0]).toMatchObject({ type: 'client_authentication_failed', reason: 'several_credentials' })
  await f.post('token', { ...forClient, client_id: 'other' }, web)
  expect(lastRequest(f)[0]).toMatchObject({ type: 'client_authentication_failed', reason: 'client_id_mismatch' })
})

test('10.3 user authentication succeeded names the subject', async () => {
  const f = await fixture()
  await f.post('token', forUser, web)
  const succeeded = { type: 'user_authentication_succeeded', username: 'alice', idp: 'local' }
  expect(lastRequest(f)[1]).toEqual({ ...succeeded, clientId: 'web', sub: '1' })
})

test.each([
  ['a wrong password', { password: 'x' }],
  ['an unknown user', { username: 'absent' }],
])('10.3 user authentication failed: %s', async (_, wrong) => {
  const f = await fixture()
  await f.post('token', { ...forUser, ...wrong }, web)
  const failed = { type: 'user_authentication_failed', reason: 'wrong_credentials', clientId: 'web' }
  expect(lastRequest(f)[1]).toEqual({ ...failed, usernameFingerprint: expect.stringMatching(/^[0-9a-f]{8}$/u) })
  expect(lastRequest(f).at(-1)).toMatchObject({
    type: 'endpoint_failed',
    error: 'invalid_grant',
    reason: 'plugin:password:wrong_credentials',
  })
})

test('10.3 user authentication failed: too many failures', async () => {
  const f = await fixture({ abuseControl: { passwords: { perUser: { failures: 1 } } } })
  await f.post('token', { ...forUser, password: 'x' }, web)
  expect(lastRequest(f)[1]).toMatchObject({ type: 'abuse_limited', limit: 'passwords.perUser', retryAfter: 600 })
  await f.post('token', forUser, web)
  expect(lastRequest(f)[1]).toMatchObject({ type: 'user_authentication_failed', reason: 'too_many_failures' })
  expect(lastRequest(f).at(-1)).toMatchObject({ type: 'endpoint_failed', status: 429, reason: 'too_many_failures' })
})

describe('a login at a tenant and an identity provider', () => {
  const users: UserService = {
    authenticate: ({ password, idp }) =>
      password === 'right' ? { sub: '7', acr: 'loa2', ...(idp && { idp }) } : undefined,
  }
  const form = { ...forUser, scope: 'openid offline_access api1', acr_values: 'idp:corporate tenant:acme loa2' }

  test('10.21 that succeeds: user, tenant, idp and acr, also for every token', async () => {
    const f = await fixture({ users })
    await f.post('token', { ...form, password: 'right' }, web)
    const who = { sub: '7', tenant: 'acme', idp: 'corporate', acr: 'loa2' }
    expect(lastRequest(f)[1]).toMatchObject({ type: 'user_authentication_succeeded', username: 'alice', ...who })
    const issued = lastRequest(f).filter(({ type }) => type === 'token_issued')
    expect(issued).toHaveLength(2)
    for (const event of issued) expect(event).toMatchObject(who)
    expect(lastRequest(f).at(-1)).toMatchObject({ type: 'endpoint_succeeded', tenant: 'acme' })
  })

  test('10.21 that fails: the requested values', async () => {
    const f = await fixture({ users })
    const asked = { tenant: 'acme', idp: 'corporate', acrValues: ['loa2'] }
    await f.post('token', { ...form, password: 'wrong' }, web)
    expect(lastRequest(f)[1]).toMatchObject({ type: 'user_authentication_failed', ...asked })
    await f.provider.authenticateUser({ username: 'alice', password: 'wrong', ...asked }, {})
    expect(f.events.at(-1)).toMatchObject({ type: 'user_authentication_failed', ...asked })
  })

  test('10.21 without acr_values: the default identity provider, and no tenant', async () => {
    const f = await fixture()
    await f.post('token', forUser, web)
    expect(lastRequest(f)[1]).toMatchObject({ idp: 'local' })
    for (const event of lastRequest(f)) expect(event).not.toHaveProperty('tenant')
  })

  test('10.21 later tokens keep idp and acr, and a client-only token has neither', async () => {
    const f = await fixture({ users })
    const { refresh_token } = (await f.post('token', { ...form, password: 'right' }, web)).body
    await f.post('token', { grant_type: 'refresh_token', refresh_token }, web)
    const issued = lastRequest(f).filter(({ type }) => type === 'token_issued')
    for (const event of issued) expect(event).toMatchObject({ sub: '7', idp: 'corporate', acr: 'loa2' })
    await f.post('token', forClient, web)
    expect(lastRequest(f)[1]).not.toHaveProperty('idp')
  })
})

test('10.7 introspection denied, without and with an authenticated scope', async () => {
  const f = await fixture({ introspection: { unrelatedScope: 'unauthorized' } })
  await f.post('introspection', { token: 'x' }, ['api1', 'x'])
  expect(lastRequest(f)[0]).toEqual({
    type: 'introspection_denied',
    presentedScope: 'api1',
    presentedFingerprint: await fingerprint('api1'),
    reason: 'secret_mismatch',
  })
  const token = (await f.post('token', { ...forClient, scope: 'api2' }, web)).body.access_token
  await f.post('introspection', { token }, api1)
  const denied = { type: 'introspection_denied', scope: 'api1', reason: 'scope_not_in_token', clientId: 'web' }
  expect(lastRequest(f)[0]).toMatchObject(denied)
})

test('10.7 introspection active and inactive', async () => {
  const f = await fixture()
  const token = (await f.post('token', forUser, web)).body.access_token
  await f.post('introspection', { token }, api1)
  expect(lastRequest(f)[0]).toMatchObject({ type: 'introspection_active', scope: 'api1', clientId: 'web', sub: '1' })
  await f.post('introspection', { token: 'x' }, api1)
  const inactive = { type: 'introspection_inactive', scope: 'api1', reason: 'token_unknown' }
  expect(lastRequest(f)[0]).toMatchObject(inactive)
})
