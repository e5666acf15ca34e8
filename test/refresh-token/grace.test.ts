// A client whose processes share one refresh token: within the grace, a spent token returns its successor again.
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { sha256Of } from '@grantry/testing'
import { decodeJwt } from 'jose'
import { describe, expect, test } from 'vitest'
import { type Fixture, fixture, lastReason, clients as shared, web, webJwt } from '../support/fixture.ts'
import { dead, formats, issueTokens, judged, live, refresh } from '../support/revocation.ts'
import { withoutSignatures } from '../support/same-tokens.ts'

const gracePeriod = 1800
const lifetime = 300
const refreshToken = { gracePeriod, retryWindow: 10 }
const clients = [web, webJwt].map(([clientId, secret]) => ({
  ...shared.find((client) => client.clientId === clientId),
  clientId,
  secrets: [{ sha256: sha256Of(secret) }],
  accessTokenLifetime: lifetime,
  refreshToken,
}))
const start = () => fixture({ clients })
const types = ({ events }: Fixture) => events.map(({ type }) => type)

describe.each(formats)('a spent token of a client with a grace, %s', (_, as) => {
  test('3.106 returns the same successor, whether that was used or not, until the grace ends', async () => {
    const f = await start()
    const { refresh_token: first } = await issueTokens(f, as)
    const second = (await refresh(f, first, as)).body.refresh_token
    f.clock.advance(60)
    expect((await refresh(f, first, as)).body.refresh_token).toBe(second)
    const third = (await refresh(f, second, as)).body.refresh_token
    f.clock.advance(gracePeriod - 61)
    expect((await refresh(f, first, as)).body.refresh_token).toBe(second)
    expect((await refresh(f, second, as)).body.refresh_token).toBe(third)
    expect((await refresh(f, third, as)).status).toBe(200)
  })

  test('3.107 is refused after the grace; the family lives, and an event reports it', async () => {
    const f = await start()
    const { refresh_token: first } = await issueTokens(f, as)
    const second = (await refresh(f, first, as)).body
    f.clock.advance(gracePeriod)
    f.events.length = 0
    const { status, body } = await refresh(f, first, as)
    expect([status, body]).toEqual([
      400,
      { error: 'invalid_grant', error_description: 'The refresh token is not valid' },
    ])
    expect(lastReason(f)).toBe('refresh_outdated')
    expect(f.events).toContainEqual(expect.objectContaining({ type: 'refresh_outdated', reason: 'grace_over' }))
    expect(types(f)).not.toContain('family_revoked')
    expect((await refresh(f, second.refresh_token, as)).status).toBe(200)
  })

  test('3.106 the response has an access token that works, also when the first one has expired', async () => {
    const f = await start()
    const { refresh_token: first } = await issueTokens(f, as)
    const early = (await refresh(f, first, as)).body
    f.clock.advance(lifetime + 1)
    expect(await judged(f, early.access_token)).toEqual(dead)
    f.events.length = 0
    const late = (await refresh(f, first, as)).body
    expect([late.expires_in, late.refresh_token]).toEqual([lifetime, early.refresh_token])
    expect(await judged(f, late.access_token)).toEqual(live)
    expect(await judged(f, early.access_token)).toEqual(dead)
    const issued = f.events.flatMap((event) => (event.type === 'token_issued' ? [event.tokenType] : []))
    expect([types(f).includes('refresh_retried'), issued]).toEqual([true, ['access_token', 'identity_token']])
    expect(decodeJwt(late.id_token)).toMatchObject({ iat: f.clock.now() - 0 })
    f.clock.advance(lifetime)
    expect(await judged(f, late.access_token)).toEqual(dead)
  })

  test('3.106 the same access token while half of its time is left, and a new one afterwards', async () => {
    const f = await start()
    const { refresh_token: first } = await issueTokens(f, as)
    const early = (await refresh(f, first, as)).body
    f.clock.advance(lifetime / 2)
    const again = (await refresh(f, first, as)).body
    expect(withoutSignatures(again)).toEqual(withoutSignatures(early))
    expect(again.expires_in).toBe(lifetime / 2)
    f.clock.advance(1)
    const renewed = (await refresh(f, first, as)).body
    expect(renewed.expires_in).toBe(lifetime)
    expect(withoutSignatures(renewed)).not.toEqual(withoutSignatures(early))
    expect(renewed.refresh_token).toBe(early.refresh_token)
  })

  test('3.106 a holder that is behind comes back before the grace of the successor ends', async () => {
    const f = await start()
    const { refresh_token: first } = await issueTokens(f, as)
    const second = (await refresh(f, first, as)).body.refresh_token
    f.clock.advance(100)
    const third = (await refresh(f, second, as)).body.refresh_token
    f.clock.advance(gracePeriod - 101)
    const late = (await refresh(f, first, as)).body
    // The successor leads further for 101 seconds.
    expect([late.refresh_token, late.expires_in]).toEqual([second, 50])
    f.clock.advance(late.expires_in)
    expect(await judged(f, late.access_token)).toEqual(dead)
    expect((await refresh(f, second, as)).body.refresh_token).toBe(third)
  })
})

test('3.106 a request with other scopes gets the same successor, and an access token of its scopes', async () => {
  const f = await start()
  const { refresh_token: first } = await issueTokens(f)
  const second = (await refresh(f, first)).body
  const form = { grant_type: 'refresh_token', refresh_token: first }
  const narrow = (await f.post('token', { ...form, scope: 'api1' }, web)).body
  expect([narrow.refresh_token, narrow.scope]).toEqual([second.refresh_token, 'api1'])
  expect(await judged(f, narrow.access_token)).toMatchObject({ introspection: true, userinfo: 403 })
  // The successor still has what the user authorized.
  expect((await refresh(f, narrow.refresh_token)).body.scope).toBe(second.scope)
  expect((await f.post('token', { ...form, scope: 'api2' }, web)).body.error).toBe('invalid_scope')
  expect(types(f)).not.toContain('family_revoked')
})

test('3.106 by another process on the same store too', async () => {
  const storage = memoryDriver()
  const f = await fixture({ clients, storage })
  const otherProcess = await fixture({ clients, storage, runtime: { now: f.clock.now } })
  const { refresh_token: first } = await issueTokens(f)
  const second = (await refresh(f, first)).body.refresh_token
  await refresh(otherProcess, second)
  f.clock.advance(lifetime)
  expect((await refresh(otherProcess, first)).body.refresh_token).toBe(second)
})

test('3.107 without a retry window too', async () => {
  const f = await fixture({
    clients: clients.map((client) => ({ ...client, refreshToken: { gracePeriod, retryWindow: 0 } })),
  })
  const { refresh_token: first } = await issueTokens(f)
  const second = (await refresh(f, first)).body.refresh_token
  expect((await refresh(f, first)).body.refresh_token).toBe(second)
})

test.each([
  [{ gracePeriod: 3601 }, /refreshToken\.gracePeriod must be at most 3600 seconds/u],
  [{ gracePeriod: -1 }, /refreshToken\.gracePeriod must be 0 or more seconds/u],
  [{ gracePeriod: 1.5 }, /refreshToken\.gracePeriod must be whole seconds/u],
  [{ gracePeriod: '30m' }, /refreshToken\.gracePeriod must be a number of seconds/u],
  [{ gracePeriod: 60, usage: 'reuse' }, /refreshToken\.gracePeriod must be 0 for a client that reuses/u],
])('3.106 the setting %j is refused at start', async (setting, message) => {
  const changed = clients.map((client) => ({ ...client, refreshToken: setting }))
  await expect(fixture({ clients: changed as never })).rejects.toThrow(message)
})
