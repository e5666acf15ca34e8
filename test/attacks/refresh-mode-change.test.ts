/**
 * Attack: an attacker keeps refresh tokens that were rotated long ago, and waits until the operator changes something:
 * `reuse` instead of `rotate`, a longer lifetime, a client disabled and enabled again. A spent token must not become
 * valid again.
 *
 * RFC 9700 section 4.14.2: a rotated refresh token is invalid, and its reuse is a sign of theft. That this survives a
 * change of configuration is hardening.
 */

import type { ClientOptions } from '@grantry/core'
import { expect, test } from 'vitest'
import { clients, fixture, web } from '../support/fixture.ts'

const original = clients.find(({ clientId }) => clientId === web[0])

/** A provider whose client `web` can be changed while it runs, as in a database. */
async function changeable(first: Partial<ClientOptions> = {}) {
  if (original === undefined) throw new Error('the fixture has no client web')
  let current: ClientOptions = { ...original, ...first }
  const f = await fixture({ clients: { find: (clientId) => (clientId === web[0] ? current : undefined) } })
  const form = { grant_type: 'password', username: 'alice', password: 'alice-password', scope: 'api1 offline_access' }
  const { body } = await f.post('token', form, web)
  return {
    f,
    first: String(body.refresh_token),
    refresh: (refresh_token: string) => f.post('token', { grant_type: 'refresh_token', refresh_token }, web),
    change(more: Partial<ClientOptions>) {
      current = { ...current, ...more }
    },
  }
}

const refused = { status: 400, body: { error: 'invalid_grant' } }

test('a rotated token does not work again when its client is switched to reuse', async () => {
  const { f, first, refresh, change } = await changeable()
  const second = (await refresh(first)).body.refresh_token
  f.clock.advance(60)
  change({ refreshToken: { usage: 'reuse' } })
  expect(await refresh(first)).toMatchObject(refused)
  // It is a sign of theft as before: the family is revoked.
  expect(await refresh(second)).toMatchObject(refused)
})

test.each([
  ['reuse', ['reuse']],
  ['reuse and back to rotate', ['reuse', 'rotate']],
] as const)('switched to %s, a successor that was used ends the retries of its predecessor', async (_, usages) => {
  const { refresh, first, change } = await changeable()
  const second = (await refresh(first)).body.refresh_token
  change({ refreshToken: { usage: 'reuse' } })
  // Before the successor is used, the response may have been lost.
  expect((await refresh(first)).body.refresh_token).toBe(second)
  expect((await refresh(second)).body.refresh_token).toBe(second)
  for (const usage of usages) change({ refreshToken: { usage } })
  expect(await refresh(first)).toMatchObject(refused)
  expect(await refresh(second)).toMatchObject(refused)
})

test('a reused token is rotated from the moment its client is switched to rotate', async () => {
  const { f, first, refresh, change } = await changeable({ refreshToken: { usage: 'reuse' } })
  expect((await refresh(first)).body.refresh_token).toBe(first)
  change({ refreshToken: { usage: 'rotate' } })
  const second = (await refresh(first)).body.refresh_token
  expect(second).not.toBe(first)
  f.clock.advance(60)
  expect(await refresh(first)).toMatchObject(refused)
  expect(await refresh(second)).toMatchObject(refused)
})

test('a longer lifetime does not make an expired token valid', async () => {
  const { f, first, refresh, change } = await changeable({ refreshToken: { slidingLifetime: 60 } })
  f.clock.advance(60)
  change({ refreshToken: { slidingLifetime: 6000 } })
  expect(await refresh(first)).toMatchObject(refused)
})

test('a shorter life ends the successors of old families', async () => {
  const { f, first, refresh, change } = await changeable()
  f.clock.advance(1000)
  change({ refreshToken: { absoluteLifetime: 500 } })
  const { body } = await refresh(first)
  expect(body).not.toHaveProperty('refresh_token')
})

test('a family that was revoked while its client was disabled stays revoked when it is enabled again', async () => {
  const { f, first, refresh, change } = await changeable()
  const second = (await refresh(first)).body.refresh_token
  f.clock.advance(60)
  expect(await refresh(first)).toMatchObject(refused)
  change({ enabled: false })
  expect((await refresh(second)).status).toBe(401)
  change({ enabled: true })
  expect(await refresh(second)).toMatchObject(refused)
})

test('a retry window that has ended stays ended, whatever the window is now', async () => {
  const { f, first, refresh, change } = await changeable({ refreshToken: { retryWindow: 10 } })
  const second = (await refresh(first)).body.refresh_token
  f.clock.advance(10)
  change({ refreshToken: { retryWindow: 300 } })
  expect(await refresh(first)).toMatchObject(refused)
  expect(await refresh(second)).toMatchObject(refused)
})
