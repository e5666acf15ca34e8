/**
 * Attack: an attacker has a refresh token that was rotated long ago (from a log, from a lost device), and reads the
 * store: a backup, an open Redis. The tokens of a response are derived from the redeemed refresh token and a nonce in
 * the store, so that a lost response can be repeated. The attacker derives the chain up to the refresh token that is
 * valid now.
 *
 * RFC 9700 section 4.14.2: a rotated refresh token is worthless. That it stays so beside a copy of the store is
 * hardening; decision 44.
 */

import { createHash, createHmac } from 'node:crypto'
import { createTestClock, mapDriver } from '@grantry/core/testing'
import { expect, test } from 'vitest'
import { fixture, web } from '../support/fixture.ts'
import { issueTokens, refresh } from '../support/revocation.ts'

const retryWindow = 10

/** A family that has been refreshed for an hour, the last time now: its refresh tokens, oldest first. */
async function refreshed() {
  const clock = createTestClock()
  const items = new Map<string, string>()
  const storage = mapDriver(items, clock.now)
  const f = await fixture({ storage, runtime: { now: clock.now } })
  const tokens = [(await issueTokens(f)).refresh_token]
  for (let count = 0; count < 6; count += 1) {
    clock.advance(600)
    const { body } = await refresh(f, tokens.at(-1) ?? '')
    tokens.push(body.refresh_token)
  }
  /** What an attacker reads: the items that the storage has not removed because they expired. */
  const copy = (): readonly (readonly [string, string])[] =>
    [...items].filter(([key]) => storage.getItem(key) !== null).map(([key, value]) => [key, value])
  return { f, clock, tokens, copy }
}

/** Every refresh token that can be derived from a token and any string in the store. */
function derivedFrom(token: string, copy: readonly (readonly [string, string])[]): readonly string[] {
  const words = new Set(copy.flatMap(([key, value]) => [...key.split(':'), ...value.split(/[^\w-]+/u)]))
  return [...words].map((nonce) =>
    createHmac('sha512', token).update(`grantry retry 1\n${nonce}`).digest().subarray(32).toString('base64url'),
  )
}

const isStored = (token: string, copy: readonly (readonly [string, string])[]): boolean =>
  copy.some(([key]) => key === `refresh:${createHash('sha256').update(token).digest('hex')}`)

test('after the retry window, no spent refresh token leads to another one', async () => {
  const { clock, tokens, copy } = await refreshed()
  clock.advance(retryWindow)
  const stolen = copy()
  // The markers and the records of the whole chain are there.
  expect(stolen.filter(([key]) => key.startsWith('spent:'))).toHaveLength(tokens.length - 1)
  for (const token of tokens) expect(isStored(token, stolen)).toBe(true)
  for (const token of tokens) {
    for (const derived of derivedFrom(token, stolen)) expect(isStored(derived, stolen)).toBe(false)
  }
  expect(stolen.filter(([key]) => key.startsWith('replay:'))).toEqual([])
})

test('inside the window, only the token that was spent last does, and its holder could send it to the provider', async () => {
  const { f, tokens, copy } = await refreshed()
  const stolen = copy()
  const newest = tokens.at(-1) ?? ''
  const last = tokens.at(-2) ?? ''
  for (const token of tokens) {
    const found = derivedFrom(token, stolen).filter((derived) => isStored(derived, stolen))
    expect(found).toEqual(token === last ? [newest] : [])
  }
  expect((await refresh(f, last, web)).body.refresh_token).toBe(newest)
})
