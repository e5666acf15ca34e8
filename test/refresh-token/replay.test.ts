// Attack: a refresh token is stolen. The attacker and the client both use it; the second use reveals the theft.
import type { ClientOptions } from '@grantry/core'
import { sha256Of } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { api1, type Fixture, fixture, web } from '../support/fixture.ts'
import { withoutSignatures } from '../support/same-tokens.ts'

const alice = { grant_type: 'password', username: 'alice', password: 'alice-password' }

const refresh = (f: Fixture, token: string, more: Record<string, string> = {}) =>
  f.post('token', { grant_type: 'refresh_token', refresh_token: token, ...more }, web)

const isActive = async (f: Fixture, token: string): Promise<boolean> =>
  (await f.post('introspection', { token }, api1)).body.active

const login = async (f: Fixture) => (await f.post('token', { ...alice, scope: 'openid api1 offline_access' }, web)).body

async function rotated(refreshToken: ClientOptions['refreshToken'] = {}) {
  const client: ClientOptions = {
    clientId: web[0],
    secrets: [{ sha256: sha256Of(web[1]) }],
    grantTypes: ['password', 'refresh_token'],
    scopes: ['openid', 'api1', 'offline_access'],
    accessTokenFormat: 'reference',
    refreshToken,
  }
  const f = await fixture({ clients: [client] })
  const first = await login(f)
  const second = (await refresh(f, first.refresh_token)).body
  return { f, first, second }
}

describe('a retry inside the window', () => {
  test('3.40 gets the same tokens; only JWTs are signed again', async () => {
    const { f, first, second } = await rotated()
    f.clock.advance(9)
    const retry = await refresh(f, first.refresh_token)
    expect(retry.status).toBe(200)
    expect(withoutSignatures(retry.body)).toEqual(withoutSignatures(second))
    expect(retry.body).toMatchObject({ access_token: second.access_token, refresh_token: second.refresh_token })
    expect(f.events.map(({ type }) => type)).toContain('refresh_retried')
    expect((await refresh(f, second.refresh_token)).status).toBe(200)
  })

  test('3.40 issues nothing', async () => {
    const { f, first } = await rotated()
    f.events.length = 0
    await refresh(f, first.refresh_token)
    expect(f.events.map(({ type }) => type)).not.toContain('token_issued')
  })

  test('3.40 is a retry with the scopes in another order', async () => {
    const f = await fixture()
    const first = await login(f)
    const second = (await refresh(f, first.refresh_token, { scope: 'openid api1' })).body
    const retry = await refresh(f, first.refresh_token, { scope: 'api1 openid' })
    expect(withoutSignatures({ ...retry.body, scope: second.scope })).toEqual(withoutSignatures(second))
    expect(retry.body.scope.split(' ').sort()).toEqual(second.scope.split(' ').sort())
  })

  test('3.40 is not a retry after the successor was used: the family is revoked', async () => {
    const { f, first, second } = await rotated()
    const third = (await refresh(f, second.refresh_token)).body
    expect((await refresh(f, first.refresh_token)).body.error).toBe('invalid_grant')
    expect((await refresh(f, third.refresh_token)).body.error).toBe('invalid_grant')
    expect(await isActive(f, third.access_token)).toBe(false)
  })

  test('3.40 is not a retry with another scope: the family is revoked', async () => {
    const { f, first, second } = await rotated()
    const { status, body } = await refresh(f, first.refresh_token, { scope: 'api1' })
    expect(status).toBe(400)
    expect(body.error).toBe('invalid_grant')
    expect((await refresh(f, second.refresh_token)).body.error).toBe('invalid_grant')
    expect(await isActive(f, second.access_token)).toBe(false)
  })

  test('3.40 the window is a setting: 0 disables retries', async () => {
    const { f, first, second } = await rotated({ retryWindow: 0 })
    expect((await refresh(f, first.refresh_token)).body.error).toBe('invalid_grant')
    expect((await refresh(f, second.refresh_token)).body.error).toBe('invalid_grant')
  })

  test('3.40 the window is a setting: it may be longer', async () => {
    const { f, first, second } = await rotated({ retryWindow: 60 })
    f.clock.advance(59)
    const retry = await refresh(f, first.refresh_token)
    expect(withoutSignatures(retry.body)).toEqual(withoutSignatures(second))
    f.clock.advance(1)
    expect((await refresh(f, first.refresh_token)).body.error).toBe('invalid_grant')
  })

  test('3.40 a retry does not extend the window', async () => {
    const { f, first } = await rotated()
    f.clock.advance(6)
    expect((await refresh(f, first.refresh_token)).status).toBe(200)
    f.clock.advance(6)
    expect((await refresh(f, first.refresh_token)).body.error).toBe('invalid_grant')
  })

  test('3.45 gets no token if the user has become inactive since', async () => {
    const { f, first } = await rotated()
    delete f.users.alice
    const { status, body } = await refresh(f, first.refresh_token)
    expect(status).toBe(400)
    expect(body.error).toBe('invalid_grant')
  })
})

describe('a rotated token replayed outside the window', () => {
  test('3.39 is rejected and revokes the whole family', async () => {
    const { f, first, second } = await rotated()
    f.clock.advance(10)
    const { status, body } = await refresh(f, first.refresh_token)
    expect(status).toBe(400)
    expect(body).toEqual({ error: 'invalid_grant', error_description: expect.any(String) })
    expect(f.events.at(-1)).toMatchObject({ type: 'endpoint_failed', reason: 'refresh_reused' })
    expect(f.events.map(({ type }) => type)).toContain('family_revoked')
    expect((await refresh(f, second.refresh_token)).body.error).toBe('invalid_grant')
    expect(await isActive(f, first.access_token)).toBe(false)
    expect(await isActive(f, second.access_token)).toBe(false)
  })

  test('3.39 revokes the family any number of generations later', async () => {
    const { f, first, second } = await rotated()
    let latest = second
    for (let generation = 0; generation < 5; generation += 1) {
      f.clock.advance(3600)
      latest = (await refresh(f, latest.refresh_token)).body
    }
    expect(await isActive(f, latest.access_token)).toBe(true)
    await refresh(f, first.refresh_token)
    expect(await isActive(f, latest.access_token)).toBe(false)
    expect((await refresh(f, latest.refresh_token)).body.error).toBe('invalid_grant')
  })

  test('3.39 revokes only that family: another login of the same user and client stays valid', async () => {
    const { f, first } = await rotated()
    const another = await login(f)
    f.clock.advance(10)
    await refresh(f, first.refresh_token)
    expect(await isActive(f, another.access_token)).toBe(true)
    expect((await refresh(f, another.refresh_token)).status).toBe(200)
  })

  test('3.39 stays revoked: no token of the family becomes valid later', async () => {
    const { f, first, second } = await rotated()
    f.clock.advance(10)
    await refresh(f, first.refresh_token)
    for (const days of [1, 7, 6]) {
      f.clock.advance(days * 86_400)
      expect((await refresh(f, second.refresh_token)).body.error).toBe('invalid_grant')
      expect((await refresh(f, first.refresh_token)).body.error).toBe('invalid_grant')
    }
  })

  test('3.39 also if the replayed token would have expired by itself, while its successor lives', async () => {
    const f = await fixture()
    const first = await login(f)
    const day = 86_400
    f.clock.advance(14 * day)
    const second = (await refresh(f, first.refresh_token)).body
    f.clock.advance(2 * day)
    expect((await refresh(f, first.refresh_token)).body.error).toBe('invalid_grant')
    expect((await refresh(f, second.refresh_token)).body.error).toBe('invalid_grant')
  })

  test('3.39 a request that was rejected for its scope is not a replay', async () => {
    const { f, first, second } = await rotated()
    f.clock.advance(10)
    expect((await refresh(f, first.refresh_token, { scope: 'nothing' })).body.error).toBe('invalid_scope')
    expect((await refresh(f, second.refresh_token)).status).toBe(200)
  })
})
