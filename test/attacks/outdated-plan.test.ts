/**
 * Attack: guessing the password of a user through processes that expect the user at a known address, and draw a
 * number before they know what has happened since: failures in other processes, a login that has reset the count, an address that
 * is forgotten while the client is blocked.
 *
 * RFC 6749 section 4.3.2; docs/guides/abuse-control.md, "What is exact".
 */
import type { AtomicDriver } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { describe, expect, test } from 'vitest'
import { type Fixture, fixture } from '../support/fixture.ts'
import { address, guess, home, many, right } from '../support/guesses.ts'
import { commitPaths, withLatency } from '../support/latency.ts'
import { randomPause } from '../support/pause.ts'
import { rounds } from '../support/rounds.ts'

/** A user service that notes the wrong passwords, and how often it was asked. */
function slowUsers() {
  const wrong: string[] = []
  const asked: string[] = []
  return {
    wrong,
    asked,
    users: {
      async authenticate({ username, password }: { readonly username: string; readonly password: string }) {
        asked.push(password)
        await randomPause(5)
        if (password === `${username}-password`) return { sub: username }
        wrong.push(password)
        return undefined
      },
    },
  }
}

describe.concurrent.each(commitPaths)('with four processes that remember a login, $path', ({ prepare }) => {
  async function started(more: Parameters<typeof fixture>[0] = {}) {
    const { users, wrong, asked } = slowUsers()
    const storage = withLatency(prepare(memoryDriver()))
    const first = await fixture({ users, storage, ...more })
    const others = await Promise.all(
      [2, 3, 4].map(() => fixture({ users, storage, runtime: { now: first.clock.now }, ...more })),
    )
    const all = [first, ...others]
    for (let login = 0; login < 2; login += 1) for (const f of all) expect((await right(f)).status).toBe(200)
    wrong.length = 0
    return { all, wrong, asked, clock: first.clock, at: (index: number): Fixture => all[index % 4] as Fixture }
  }

  test.each(rounds())('of forty concurrent guesses, five are checked (round %i)', async () => {
    const { at, wrong } = await started()
    const responses = await many(40, (index) => guess(at(index), 'alice', `guess ${index}`))
    expect(wrong).toHaveLength(5)
    expect(responses.filter(({ status }) => status === 400)).toHaveLength(5)
  })

  test('a guess through the next process each time is counted: five are checked', async () => {
    const { at, wrong } = await started()
    const statuses: number[] = []
    for (let index = 0; index < 8; index += 1) statuses.push((await guess(at(index), 'alice', `guess ${index}`)).status)
    expect(statuses).toEqual([400, 400, 400, 400, 400, 429, 429, 429])
    expect(wrong).toHaveLength(5)
  })

  test('a login that resets the count gives five guesses again, through all processes together', async () => {
    const { at, wrong } = await started()
    for (let round = 0; round < 2; round += 1) {
      for (let index = 0; index < 4; index += 1) expect((await guess(at(index), 'alice', 'x')).status).toBe(400)
      expect((await right(at(round))).status).toBe(200)
      wrong.length = 0
    }
    await many(40, (index) => guess(at(index), 'alice', `guess ${index}`))
    expect(wrong).toHaveLength(5)
  })

  test('concurrent logins through all processes succeed, and give back every number', async () => {
    const { at, wrong } = await started()
    const responses = await many(24, (index) => right(at(index)))
    expect(responses.filter(({ status }) => status !== 200)).toEqual([])
    await many(40, (index) => guess(at(index), 'alice', `guess ${index}`))
    expect(wrong).toHaveLength(5)
  })

  test('once the address is forgotten, the limit of the client applies before the password is checked', async () => {
    const passwords = { rememberAddress: 100, perClient: { failures: 2, perAddress: 2, window: 1_000_000 } }
    const { at, asked, clock } = await started({ abuseControl: { passwords } })
    clock.advance(101)
    for (let user = 0; user < 2; user += 1) await guess(at(user), `user ${user}`, 'summer', home)
    asked.length = 0
    const responses = await many(4, (index) => right(at(index)))
    expect(responses.map(({ status }) => status)).toEqual([429, 429, 429, 429])
    expect(asked).toEqual([])
  })
})

/** Two providers that remember a login of alice. */
async function twoProviders() {
  const { users, wrong } = slowUsers()
  const storage = memoryDriver()
  const first = await fixture({ users, storage })
  const second = await fixture({ users, storage, runtime: { now: first.clock.now } })
  for (const f of [first, second, first, second]) expect((await right(f)).status).toBe(200)
  return { first, second, wrong, clock: first.clock }
}

test('numbers of the count before a reset give no further guess', async () => {
  const { first, second, wrong } = await twoProviders()
  await guess(second, 'alice', 'forgotten by the next login')
  await right(second)
  wrong.length = 0
  await many(40, (index) => guess(index % 2 === 0 ? first : second, 'alice', `guess ${index}`))
  expect(wrong).toHaveLength(5)
})

type Operation = 'read' | 'draw' | 'commit'

/** A provider that remembers a login of alice, and another one. `hold` delays the reads of the first. */
async function withHeldReads() {
  const { users, wrong, asked } = slowUsers()
  const store = memoryDriver()
  let taken = 0
  let held: { readonly until: Promise<unknown> } | undefined
  let broken: (operation: Operation) => boolean = () => false
  const step = <T>(operation: Operation, act: () => T): T => {
    if (broken(operation)) throw new Error('connection lost')
    return act()
  }
  const storage: AtomicDriver = {
    ...store,
    async getItem(key) {
      await held?.until
      return step('read', () => store.getItem(key))
    },
    async incrementItem(...item) {
      const result = step('draw', () => store.incrementItem(...item))
      taken += 1
      return result
    },
    commit: (changes) => step('commit', () => store.commit(changes)),
  }
  const passwords = { perUserAndAddress: { failures: 1, window: 7 } }
  // A held read must not end by the time limit: a hundred guesses can take long on a busy machine.
  const f = await fixture({ users, storage, storageTimeLimit: 60, abuseControl: { passwords } })
  const otherProvider = await fixture({
    users,
    storage: store,
    abuseControl: { passwords },
    runtime: { now: f.clock.now },
  })
  await right(f)
  await right(f)
  asked.length = 0
  return {
    f,
    otherProvider,
    wrong,
    asked,
    hold(until: Promise<unknown> | undefined) {
      held = until && { until }
      taken = 0
    },
    /** How many permits it has taken since then. */
    taken: () => taken,
    fail(when: typeof broken) {
      broken = when
    },
  }
}

test('a number is drawn first, and the address is forgotten before the state is read: nothing is checked', async () => {
  const { f, otherProvider, asked, hold } = await withHeldReads()
  let go = (): void => {}
  hold(
    new Promise<void>((resolve) => {
      go = resolve
    }),
  )
  const late = guess(f, 'alice', 'late')
  f.clock.advance(31 * 86_400)
  for (let index = 0; index < 100; index += 1) await guess(otherProvider, `user ${index}`, 'summer', address(index))
  asked.length = 0
  hold(undefined)
  go()
  expect((await late).status).toBe(429)
  expect(asked).toEqual([])
})

test('while the state is not read, nothing is checked, and the number counts in other processes', async () => {
  const { f, otherProvider, wrong, asked, hold, taken } = await withHeldReads()
  let go = (): void => {}
  hold(
    new Promise<void>((resolve) => {
      go = resolve
    }),
  )
  const late = guess(f, 'alice', 'late')
  const meanwhile = guess(otherProvider, 'alice', 'meanwhile')
  await expect.poll(taken).toBeGreaterThan(0)
  expect(asked).toEqual([])
  hold(undefined)
  go()
  expect((await late).status).toBe(400)
  expect((await meanwhile).status).toBe(429)
  expect(wrong).toEqual(['late'])
})

describe('a store that fails', () => {
  test.each(['read', 'draw'] as const)(
    'at the %s: 503, nothing is checked, and the next window is free',
    async (step) => {
      const { f, otherProvider, asked, fail } = await withHeldReads()
      fail((operation) => operation === step)
      expect((await right(f)).status).toBe(503)
      expect(asked).toEqual([])
      fail(() => false)
      f.clock.advance(7)
      expect((await right(otherProvider)).status).toBe(200)
      expect((await right(f)).status).toBe(200)
    },
  )

  test('at the commit of the tokens: 503, and the attempt counts, because its outcome is not stored', async () => {
    const { f, otherProvider, fail } = await withHeldReads()
    fail((operation) => operation === 'commit')
    expect((await right(f)).status).toBe(503)
    fail(() => false)
    f.clock.advance(7)
    expect((await right(otherProvider)).status).toBe(200)
    expect((await right(otherProvider)).status).toBe(200)
  })
})
