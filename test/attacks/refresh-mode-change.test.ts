/**
 * Attack: a thief keeps refresh tokens that were rotated away long ago, and waits for the day on which the operator changes something: `reuse` in place of `rotate`, a longer
 * life, a client switched off and on again. A token that was spent must not rise again.
 *
 * RFC 9700 section 4.14.2: a rotated refresh token is invalid, and its reuse is a sign of theft. That it outlives a change of configuration is hardening.
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

test('a token that was rotated away does not work again when its client is switched to reuse', async () => {
  const { f, first, refresh, change } = await changeable()
  const second = (await refresh(first)).body.refresh_token
  f.clock.advance(60)
  change({ refreshToken: { usage: 'reuse' } })
  expect(await refresh(first)).toMatchObject(refused)
  // It is a sign of theft as it was before: the family ends.
  expect(await refresh(second)).toMatchObject(refused)
})

test('a token that is reused is rotated from the day on which its client is switched to rotate', async () => {
  const { f, first, refresh, change } = await changeable({ refreshToken: { usage: 'reuse' } })
  expect((await refresh(first)).body.refresh_token).toBe(first)
  change({ refreshToken: { usage: 'rotate' } })
  const second = (await refresh(first)).body.refresh_token
  expect(second).not.toBe(first)
  f.clock.advance(60)
  expect(await refresh(first)).toMatchObject(refused)
  expect(await refresh(second)).toMatchObject(refused)
})

test('a longer life does not wake a token that has ended', async () => {
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

test('a family that was revoked while its client was off stays revoked when it is on again', async () => {
  const { f, first, refresh, change } = await changeable()
  const second = (await refresh(first)).body.refresh_token
  f.clock.advance(60)
  expect(await refresh(first)).toMatchObject(refused)
  change({ enabled: false })
  expect((await refresh(second)).status).toBe(401)
  change({ enabled: true })
  expect(await refresh(second)).toMatchObject(refused)
})

test('the wait for a retry is over when it was over, whatever the window is now', async () => {
  const { f, first, refresh, change } = await changeable({ refreshToken: { retryWindow: 10 } })
  const second = (await refresh(first)).body.refresh_token
  f.clock.advance(10)
  change({ refreshToken: { retryWindow: 300 } })
  expect(await refresh(first)).toMatchObject(refused)
  expect(await refresh(second)).toMatchObject(refused)
})
