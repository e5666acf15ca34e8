import { defineGrant } from '@grantry/core'
import * as v from 'valibot'
import { expect, test } from 'vitest'
import { eventFact, traceFields } from '../support/event-fields.ts'
import { builtInPlugins, clients, type Fixture, fixture, redirectUri, web, webJwt } from '../support/fixture.ts'

async function fingerprint(credential: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(credential))
  return Buffer.from(digest).toString('hex').slice(0, 8)
}

/** The events of the last request, without their trace and time. The family has its own tests. */
function lastRequest({ events }: Fixture) {
  const request = events.at(-1)?.id.split('.')[0]
  return events
    .filter(({ id }) => id.startsWith(`${request}.`))
    .map((event) => {
      const { family: _, ...fact } = eventFact(event) as ReturnType<typeof eventFact> & { readonly family?: string }
      return fact
    })
}

const typesOf = (f: Fixture): readonly string[] => lastRequest(f).map(({ type }) => type)

const redeem = (f: Fixture, code: string, client = web) =>
  f.post('token', { grant_type: 'authorization_code', code, redirect_uri: redirectUri }, client)

const refresh = (f: Fixture, refresh_token: string, more: Record<string, string> = {}) =>
  f.post('token', { grant_type: 'refresh_token', refresh_token, ...more }, web)

const who = { clientId: 'web', sub: '1' }

test('10.5 reports a code that the host issues, with its fingerprint', async () => {
  const f = await fixture()
  const code = await f.code()
  const { time: _, id: __, requestId: ___, ...event } = f.events.at(-1) ?? { time: 0, id: '', requestId: '' }
  expect(event).toEqual({
    type: 'code_issued',
    fingerprint: await fingerprint(code),
    family: expect.stringMatching(/^[0-9a-f]{8}$/u),
    endpoint: 'authorize',
    ...who,
  })
})

test('10.5 reports a redeemed code', async () => {
  const f = await fixture()
  const code = await f.code()
  await redeem(f, code)
  expect(lastRequest(f)[1]).toEqual({ type: 'code_redeemed', fingerprint: await fingerprint(code), ...who })
})

test('10.5 reports a replayed code and the revocation of its tokens', async () => {
  const f = await fixture()
  const code = await f.code()
  await redeem(f, code)
  await redeem(f, code)
  expect(lastRequest(f).slice(1)).toEqual([
    { type: 'code_replayed', fingerprint: await fingerprint(code), ...who },
    { type: 'family_revoked', reason: 'code_replayed', ...who },
    {
      type: 'endpoint_failed',
      status: 400,
      httpMethod: 'POST',
      duration: expect.any(Number),
      error: 'invalid_grant',
      reason: 'code_replayed',
      description: 'The authorization code is not valid',
      ...who,
    },
  ])
})

test.each([
  ['JWT', webJwt],
  ['reference token', web],
] as const)('10.4 reports every issued token, with grant type, scopes and fingerprint (%s)', async (_, client) => {
  const f = await fixture()
  const { body } = await redeem(f, await f.code({ clientId: client[0] }), client)
  const issued = {
    type: 'token_issued',
    grantType: 'authorization_code',
    scopes: ['openid', 'profile', 'offline_access', 'api1'],
    idp: 'local',
    clientId: client[0],
    sub: '1',
  }
  const events = lastRequest(f).filter(({ type }) => type === 'token_issued')
  expect(events).toHaveLength(3)
  const fingerprints = await Promise.all([body.access_token, body.refresh_token, body.id_token].map(fingerprint))
  expect(events[0]).toEqual({ ...issued, tokenType: 'access_token', fingerprint: fingerprints[0] })
  expect(events[1]).toEqual({ ...issued, tokenType: 'refresh_token', fingerprint: fingerprints[1] })
  expect(events[2]).toMatchObject({ ...issued, tokenType: 'identity_token' })
})

// Wire contract, section 1: events carry a short fingerprint. Without it an operator cannot tell which identity token
// an event is about.
test('10.4 reports an issued identity token with its fingerprint', async () => {
  const f = await fixture()
  const { body } = await redeem(f, await f.code())
  expect(lastRequest(f)).toContainEqual(
    expect.objectContaining({ tokenType: 'identity_token', fingerprint: await fingerprint(body.id_token) }),
  )
})

test('10.4 reports a client-only token in one event without a subject', async () => {
  const f = await fixture()
  const { body } = await f.post('token', { grant_type: 'client_credentials', scope: 'api2' }, web)
  expect(lastRequest(f).slice(1, -1)).toEqual([
    {
      type: 'token_issued',
      tokenType: 'access_token',
      grantType: 'client_credentials',
      scopes: ['api2'],
      fingerprint: await fingerprint(body.access_token),
      clientId: 'web',
    },
  ])
})

test('10.4 reports no issued token for a refused request', async () => {
  const f = await fixture()
  await f.post('token', { grant_type: 'password', username: 'alice', password: 'x', scope: 'api1' }, web)
  await redeem(f, 'x')
  await f.post('token', { grant_type: 'client_credentials', scope: 'openid' }, web)
  expect(f.events.filter(({ type }) => type === 'token_issued')).toEqual([])
})

test('10.6 reports a rotated refresh token', async () => {
  const f = await fixture()
  const { refresh_token } = (await redeem(f, await f.code())).body
  await refresh(f, refresh_token)
  expect(lastRequest(f)[1]).toEqual({ type: 'refresh_rotated', fingerprint: await fingerprint(refresh_token), ...who })
  expect(typesOf(f).slice(2)).toEqual(['token_issued', 'token_issued', 'token_issued', 'endpoint_succeeded'])
})

test('10.6 reports a retried refresh, which issues nothing new', async () => {
  const f = await fixture()
  const { refresh_token } = (await redeem(f, await f.code())).body
  await refresh(f, refresh_token)
  f.clock.advance(9)
  await refresh(f, refresh_token)
  expect(lastRequest(f)[1]).toEqual({ type: 'refresh_retried', fingerprint: await fingerprint(refresh_token), ...who })
  expect(typesOf(f)).toEqual(['client_authentication_succeeded', 'refresh_retried', 'endpoint_succeeded'])
})

test('10.6 reports a replayed refresh token and the revocation of its family', async () => {
  const f = await fixture()
  const { refresh_token } = (await redeem(f, await f.code())).body
  await refresh(f, refresh_token)
  f.clock.advance(10)
  await refresh(f, refresh_token)
  expect(lastRequest(f).slice(1)).toEqual([
    { type: 'refresh_reused', fingerprint: await fingerprint(refresh_token), ...who },
    { type: 'family_revoked', reason: 'refresh_reused', ...who },
    expect.objectContaining({ type: 'endpoint_failed', error: 'invalid_grant', reason: 'refresh_reused' }),
  ])
})

test('10.9 reports a revocation once, with the reason, and not again for an earlier revocation', async () => {
  const f = await fixture()
  const code = await f.code()
  await redeem(f, code)
  const revoked = () => f.events.filter(({ type }) => type === 'family_revoked')
  expect(revoked()).toEqual([])
  await redeem(f, code)
  expect(revoked()).toEqual([
    {
      type: 'family_revoked',
      reason: 'code_replayed',
      family: expect.stringMatching(/^[0-9a-f]{8}$/u),
      id: expect.any(String),
      ...traceFields,
      time: f.clock.now(),
      endpoint: 'token',
      ...who,
    },
  ])
  await redeem(f, code)
  expect(revoked()).toHaveLength(1)
})

test('10.6 reports no rotation of a refresh token that its client reuses', async () => {
  const f = await fixture({
    clients: clients.map((client) =>
      client.clientId === 'web' ? { ...client, refreshToken: { usage: 'reuse' as const } } : client,
    ),
  })
  const { refresh_token } = (await redeem(f, await f.code())).body
  await refresh(f, refresh_token)
  await refresh(f, refresh_token)
  const types = f.events.map(({ type }) => type)
  expect(types.filter((type) => type.startsWith('refresh_'))).toEqual([])
})

test('10.5 reports a replayed single-use credential of a plugin too', async () => {
  const once = defineGrant({
    grantType: 'urn:example:once',
    params: v.object({ assertion: v.string() }),
    handle: ({ params, scopes }, kit) => ({ scopes, redeems: [kit.redemption(params.assertion, kit.now() + 60)] }),
  })
  const f = await fixture({
    plugins: [...builtInPlugins, once],
    clients: clients.map((client) => ({ ...client, ...(!client.public && { grantTypes: [once.grantType] }) })),
  })
  const form = { grant_type: once.grantType, assertion: 'the-one-assertion', scope: 'api1' }
  expect((await f.post('token', form, web)).status).toBe(200)
  const replay = await f.post('token', form, web)
  expect([replay.status, replay.body.error]).toEqual([400, 'invalid_grant'])
  expect(lastRequest(f).slice(1)).toEqual([
    { type: 'redemption_replayed', fingerprint: expect.stringMatching(/^[0-9a-f]{8}$/u), clientId: 'web' },
    expect.objectContaining({ type: 'endpoint_failed', reason: 'redemption_replayed' }),
  ])
})
