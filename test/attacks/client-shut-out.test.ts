/**
 * Attack: an attacker sends wrong passwords for any names through a client, until the limit of that client blocks all
 * its users. The client id of a public client is public, and a login page passes on any input.
 *
 * The allowance of a client is divided: one source gets at most a fifth of it. Sources are IPv4 addresses and IPv6
 * networks of 48 bits, the largest that one site has (RFC 6177).
 */

import type { AtomicDriver } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { describe, expect, test } from 'vitest'
import { type Fixture, fixture, web } from '../support/fixture.ts'
import { address, elsewhere, guess, home, many, right } from '../support/guesses.ts'
import { withLatency } from '../support/latency.ts'

const statusesOf = async (count: number, act: (index: number) => Promise<{ status: number }>) => {
  const statuses: number[] = []
  for (let index = 0; index < count; index += 1) statuses.push((await act(index)).status)
  return statuses
}
const tally = (statuses: readonly number[]): Record<string, number> => {
  const counts: Record<string, number> = {}
  for (const status of statuses) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

describe('one source', () => {
  test('3.23 one source gets a fifth of the allowance of a client and blocks no other', async () => {
    const f = await fixture()
    const statuses = await statusesOf(200, (index) => guess(f, `name ${index}`, 'x', elsewhere))
    expect(statuses).toEqual([...Array(20).fill(400), ...Array(180).fill(429)])
    expect((await right(f, home)).status).toBe(200)
    expect((await guess(f, 'bob', 'x', address(1))).status).toBe(400)
    expect(f.events).toContainEqual(
      expect.objectContaining({
        type: 'abuse_limited',
        limit: 'passwords.perClient.perAddress',
        clientAddress: elsewhere,
      }),
    )
    expect(f.events).not.toContainEqual(expect.objectContaining({ limit: 'passwords.perClient' }))
  })

  test('3.23 an IPv6 network of 48 bits is one source', async () => {
    const f = await fixture()
    const from = (index: number) => `2001:db8:7:${index.toString(16)}::${index}`
    expect(tally(await statusesOf(60, (index) => guess(f, `name ${index}`, 'x', from(index))))).toEqual({
      400: 20,
      429: 40,
    })
    expect((await right(f, '2001:db8:8::1')).status).toBe(200)
  })

  test('gets its share again in the next window, and its share of another client immediately', async () => {
    const f = await fixture()
    await statusesOf(21, (index) => guess(f, `name ${index}`, 'x'))
    expect((await guess(f, 'bob', 'x', home, ['other', 'other-secret'])).status).toBe(400)
    const { status, headers } = await guess(f, 'bob', 'x')
    expect(status).toBe(429)
    f.clock.advance(Number(headers.get('retry-after')))
    expect((await guess(f, 'bob', 'x')).status).toBe(400)
  })

  test('that has used up its share does not learn whether a password is right, unless the user has logged in from it', async () => {
    const f = await fixture()
    expect((await right(f, home)).status).toBe(200)
    await statusesOf(20, (index) => guess(f, `name ${index}`, 'x', home))
    expect((await guess(f, 'bob', 'bob-password', home)).status).toBe(429)
    expect((await right(f, home)).status).toBe(200)
  })

  test.each([
    [{ failures: 10 }, 2],
    [{ failures: 11 }, 3],
    [{ failures: 1 }, 1],
    [{ failures: 10, perAddress: 10 }, 10],
    [{ failures: 10, perAddress: 7 }, 7],
  ])('with the allowance %j learns %i results', async (perClient, part) => {
    const f = await fixture({ abuseControl: { passwords: { perClient } } })
    expect(tally(await statusesOf(12, (index) => guess(f, `name ${index}`, 'x')))).toEqual({
      400: part,
      429: 12 - part,
    })
  })

  test('without an address, all requests count together, up to the allowance', async () => {
    const f = await fixture({ abuseControl: { passwords: { perClient: { failures: 10 } } } })
    const form = { grant_type: 'password', password: 'x', scope: 'api1' }
    const send = (index: number) => f.post('token', { ...form, username: `name ${index}` }, web)
    expect(tally(await statusesOf(12, send))).toEqual({ 400: 10, 429: 2 })
  })
})

describe('many sources', () => {
  test('five use up the allowance: until the minute is over, users wait where they have not logged in before', async () => {
    const f = await fixture()
    expect((await right(f, home)).status).toBe(200)
    const statuses = await statusesOf(200, (index) => guess(f, `name ${index}`, 'x', address(index % 5)))
    expect(tally(statuses)).toEqual({ 400: 100, 429: 100 })
    expect((await right(f, elsewhere)).status).toBe(429)
    expect((await right(f, home)).status).toBe(200)
    f.clock.advance(60)
    expect((await right(f, elsewhere)).status).toBe(200)
  })

  test('four do not use up the allowance', async () => {
    const f = await fixture()
    const statuses = await statusesOf(200, (index) => guess(f, `name ${index}`, 'x', address(index % 4)))
    expect(tally(statuses)).toEqual({ 400: 80, 429: 120 })
    expect((await right(f, elsewhere)).status).toBe(200)
  })
})

describe('concurrently, in four processes with a slow store', () => {
  const four = (store: AtomicDriver) =>
    Promise.all(Array.from({ length: 4 }, () => fixture({ storage: withLatency(store) })))

  test('one source learns the results of exactly its share', async () => {
    const all = await four(memoryDriver())
    const responses = await many(160, (index) => guess(all[index % 4] as Fixture, `name ${index}`, 'x'))
    expect(tally(responses.map(({ status }) => status))).toEqual({ 400: 20, 429: 140 })
    expect((await right(all[0] as Fixture, elsewhere)).status).toBe(200)
  })

  test('many sources learn the results of exactly the allowance', async () => {
    const all = await four(memoryDriver())
    const responses = await many(240, (index) =>
      guess(all[index % 4] as Fixture, `name ${index}`, 'x', address(index % 12)),
    )
    expect(tally(responses.map(({ status }) => status))).toEqual({ 400: 100, 429: 140 })
  })

  test('a right password in flight when another process reaches the limit is not reported', async () => {
    const store = memoryDriver()
    let begin: () => void = () => {}
    let finish: () => void = () => {}
    const begun = new Promise<void>((resolve) => {
      begin = resolve
    })
    const finished = new Promise<void>((resolve) => {
      finish = resolve
    })
    const users = {
      async authenticate() {
        begin()
        await finished
        return { sub: '1' }
      },
    }
    const abuseControl = { passwords: { perClient: { failures: 10 } } }
    const slow = await fixture({ storage: store, users, abuseControl })
    const fast = await fixture({ storage: store, abuseControl })
    const pending = guess(slow, 'alice', 'alice-password')
    await begun
    expect(tally(await statusesOf(4, (index) => guess(fast, `name ${index}`, 'x')))).toEqual({ 400: 2, 429: 2 })
    finish()
    expect((await pending).status).toBe(429)
    // Nor does it make the address one of the user's.
    expect((await right(fast, home)).status).toBe(429)
  })

  test('a process that dies before it records that the limit is reached: the next failure records it', async () => {
    const store = memoryDriver()
    let dying = false
    const setItem: AtomicDriver['setItem'] = (key, ...item) => {
      if (dying && key.startsWith('failure:')) throw new Error('killed')
      return store.setItem(key, ...item)
    }
    const abuseControl = { passwords: { perClient: { failures: 3, perAddress: 3 } } }
    const mortal = await fixture({ storage: { ...store, setItem }, abuseControl })
    const surviving = await fixture({ storage: store, abuseControl })
    expect(await statusesOf(2, (index) => guess(mortal, `name ${index}`, 'x'))).toEqual([400, 400])
    dying = true
    expect((await guess(mortal, 'name 2', 'x')).status).toBe(503)
    expect((await guess(surviving, 'name 3', 'x')).status).toBe(429)
    const third = await fixture({ storage: store, abuseControl })
    expect((await right(third, home)).status).toBe(429)
  })
})
