/**
 * Attack: an attacker keeps a stolen refresh token after the theft was noticed, and waits until the revocation record
 * expires, or comes late, when the stolen token has expired and only its successors are valid.
 *
 * RFC 9700 section 4.14.2: reuse of a rotated token ends its family. That the family stays revoked is hardening.
 */

import type { ClientOptions } from '@grantry/core'
import { createTestClock, mapDriver, sha256Of } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { api1, clients, type Fixture, fixture, redirectUri, web } from '../support/fixture.ts'

const hour = 3600
const day = 86_400
const refused = { status: 400, body: { error: 'invalid_grant' } }

const webWith = (refreshToken: ClientOptions['refreshToken'] = {}): ClientOptions => ({
  ...clients[0],
  clientId: web[0],
  accessTokenLifetime: hour,
  refreshToken,
})

const refresh = (f: Fixture, token: string) =>
  f.post('token', { grant_type: 'refresh_token', refresh_token: token }, web)

const redeem = (f: Fixture, code: string) =>
  f.post('token', { grant_type: 'authorization_code', code, redirect_uri: redirectUri }, web)

const isActive = async (f: Fixture, token: string): Promise<boolean> =>
  (await f.post('introspection', { token }, api1)).body.active

const types = (f: Fixture) => f.events.map(({ type }) => type)

/**
 * Two releases of one host on one store: first lifetimes of 30 days, then of an hour. The test kit gives both the same
 * keys.
 */
async function shortened() {
  const clock = createTestClock()
  const storage = mapDriver(new Map(), clock.now)
  const runtime = { now: clock.now }
  const start = (absoluteLifetime: number) =>
    fixture({ storage, runtime, clients: [webWith({ absoluteLifetime, slidingLifetime: absoluteLifetime })] })
  const before = await start(30 * day)
  const after = await start(hour)
  const code = await before.code()
  const first = (await redeem(before, code)).body
  const second = (await refresh(before, first.refresh_token)).body
  clock.advance(60)
  return { clock, before, after, code, first, second }
}

describe('lifetimes that are shortened between the issue and the revocation', () => {
  test('without a revocation the successor is valid a day and two hours later', async () => {
    const { clock, before, second } = await shortened()
    clock.advance(day + 2 * hour)
    expect((await refresh(before, second.refresh_token)).status).toBe(200)
  })

  test('a replayed refresh token revokes its family for the full original lifetime', async () => {
    const { clock, before, after, first, second } = await shortened()
    expect(await refresh(after, first.refresh_token)).toMatchObject(refused)
    expect(types(after)).toContain('family_revoked')
    for (const wait of [day + 2 * hour, 12 * day]) {
      clock.advance(wait)
      expect(await refresh(before, second.refresh_token)).toMatchObject(refused)
      expect(await refresh(after, second.refresh_token)).toMatchObject(refused)
    }
  })

  test('a replayed code revokes its family for the full original lifetime', async () => {
    const { clock, before, after, code, second } = await shortened()
    expect(await redeem(after, code)).toMatchObject(refused)
    expect(types(after)).toContain('code_replayed')
    expect(types(after)).toContain('family_revoked')
    for (const wait of [day + 2 * hour, 12 * day]) {
      clock.advance(wait)
      expect(await refresh(before, second.refresh_token)).toMatchObject(refused)
      expect(await refresh(after, second.refresh_token)).toMatchObject(refused)
    }
  })

  test('a successor issued after the change does not shorten the revocation of older tokens', async () => {
    const { clock, before, after, second } = await shortened()
    // The old release still runs beside the new one: the tokens that it issues have the old lifetime.
    const third = (await refresh(after, second.refresh_token)).body
    expect(third.refresh_token).toEqual(expect.any(String))
    const fourth = (await refresh(before, third.refresh_token)).body
    clock.advance(60)
    expect(await refresh(after, third.refresh_token)).toMatchObject(refused)
    clock.advance(day + 2 * hour)
    expect(await refresh(before, fourth.refresh_token)).toMatchObject(refused)
  })
})

test('a token that is replayed after its own end is still a replay, and the live access token is revoked', async () => {
  const clock = createTestClock()
  const f = await fixture({
    storage: mapDriver(new Map(), clock.now),
    runtime: { now: clock.now },
    clients: [webWith({ absoluteLifetime: 1000 })],
  })
  const first = (await redeem(f, await f.code())).body
  clock.advance(990)
  const second = (await refresh(f, first.refresh_token)).body
  clock.advance(11)
  expect(await isActive(f, second.access_token)).toBe(true)
  f.events.length = 0
  expect(await refresh(f, first.refresh_token)).toMatchObject(refused)
  expect(f.events).toContainEqual(expect.objectContaining({ type: 'refresh_reused' }))
  expect(f.events).toContainEqual(expect.objectContaining({ type: 'family_revoked', reason: 'refresh_reused' }))
  expect(f.events.at(-1)).toMatchObject({ type: 'endpoint_failed', reason: 'refresh_reused' })
  expect(await isActive(f, second.access_token)).toBe(false)
})

describe('a spent marker that cannot be read', () => {
  const hex = (base64: string): string => Buffer.from(base64, 'base64').toString('hex')

  async function marked(marker: string) {
    const items = new Map<string, string>()
    let client = webWith()
    const f = await fixture({
      storage: mapDriver(items),
      clients: { find: (id) => (id === web[0] ? client : undefined) },
    })
    const first = String((await redeem(f, await f.code())).body.refresh_token)
    const key = `spent:refresh:${hex(sha256Of(first))}`
    return {
      f,
      first,
      async rotate() {
        const { body } = await refresh(f, first)
        // Otherwise the key below would be a guess that tests nothing.
        expect(items.has(key)).toBe(true)
        return String(body.refresh_token)
      },
      garble: () => items.set(key, marker),
      reuse() {
        client = webWith({ usage: 'reuse' })
      },
    }
  }

  const value = { spentAt: 1, attempt: 'x' }
  test.each<[string, string]>([
    ['text that is not JSON', '{"version":1,'],
    ['empty text', ''],
    ['another version', JSON.stringify({ version: 2, expiresAt: 9e12, value })],
    ['a marker without its members', JSON.stringify({ version: 1, expiresAt: 9e12, value: {} })],
  ])('%s still forbids, also for a client that was switched to reuse', async (_, marker) => {
    const { f, first, rotate, garble, reuse } = await marked(marker)
    const second = await rotate()
    garble()
    reuse()
    expect(await refresh(f, first)).toMatchObject(refused)
    expect(f.events.at(-1)).toMatchObject({ type: 'endpoint_failed', reason: 'refresh_reused' })
    expect(await refresh(f, second)).toMatchObject(refused)
  })

  test('a client that was switched to reuse keeps using a token that was not spent', async () => {
    const { f, first, reuse } = await marked('')
    reuse()
    expect(await refresh(f, first)).toMatchObject({ status: 200, body: { refresh_token: first } })
  })
})
