/**
 * Attack: concurrent guesses of a password, so that all are checked before the first failure is counted, also through
 * several processes; and attempts that end abnormally.
 *
 * RFC 6749 section 4.3.2. By default 5 failures in 15 minutes for a user from an address, 20 in 10 minutes from all
 * addresses without a successful login.
 */
import type { AtomicDriver } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { describe, expect, test } from 'vitest'
import { type Fixture, fixture } from '../support/fixture.ts'
import { address, guess, home, many, right } from '../support/guesses.ts'
import { commitPaths, withLatency } from '../support/latency.ts'
import { pause, randomPause } from '../support/pause.ts'

describe('concurrent guesses', () => {
  const slowUsers = () => {
    const asked: string[] = []
    return {
      asked,
      users: {
        async authenticate({ password }: { readonly password: string }) {
          asked.push(password)
          await pause(5)
          return password === 'alice-password' ? { sub: '1' } : undefined
        },
      },
    }
  }

  test('of forty guesses from one address, checks five, however slow the store is', async () => {
    const { users, asked } = slowUsers()
    const f = await fixture({ users, storage: withLatency(memoryDriver()) })
    const responses = await many(41, (index) => (index === 40 ? right(f) : guess(f, 'alice', `guess ${index}`)))
    expect(asked).toHaveLength(5)
    expect(responses.filter(({ status }) => status === 400)).toHaveLength(5)
    expect(responses.filter(({ status }) => status === 429)).toHaveLength(36)
  })

  test('of fifty guesses from fifty addresses, checks twenty', async () => {
    const { users, asked } = slowUsers()
    const f = await fixture({ users, storage: withLatency(memoryDriver()) })
    await many(50, (index) => guess(f, 'alice', `guess ${index}`, address(index)))
    expect(asked).toHaveLength(20)
  })

  test('a guess that lost the race was not checked and does not count', async () => {
    const passwords = { perUserAndAddress: { failures: 1, window: 600 }, perUser: { failures: 3 } }
    const f = await fixture({ storage: withLatency(memoryDriver()), abuseControl: { passwords } })
    const responses = await many(40, (index) => guess(f, 'alice', `guess ${index}`, address(index)))
    expect(responses.filter(({ status }) => status === 400)).toHaveLength(3)
    f.clock.advance(600)
    const refused = responses.findIndex(({ status }) => status === 429)
    expect((await right(f, address(refused))).status).toBe(200)
  })

  test('in the next window, checks five of twenty', async () => {
    const { users, asked } = slowUsers()
    const f = await fixture({ users, storage: withLatency(memoryDriver()) })
    await many(5, (index) => guess(f, 'alice', `guess ${index}`))
    for (let window = 0; window < 3; window += 1) {
      f.clock.advance(900)
      asked.length = 0
      await many(20, (index) => guess(f, 'alice', `guess ${index}`))
      expect(asked).toHaveLength(5)
    }
  })

  test('one password on 240 names through one client: a hundred get a result, the others do not learn whether it is right', async () => {
    const f = await fixture({
      storage: withLatency(memoryDriver()),
      maxHostCalls: 240,
      users: {
        // The user service takes a while.
        async authenticate({ username }) {
          await randomPause(50)
          return Number(username.slice(5)) >= 120 ? { sub: username } : undefined
        },
      },
    })
    const responses = await many(240, (index) => guess(f, `user ${index}`, 'summer', address(index)))
    const reported = responses.map(({ status }) => status)
    expect(reported.filter((status) => status === 400)).toHaveLength(100)
    // As many as were right before the hundredth failure; the rest has to wait.
    expect(reported.filter((status) => status === 429).length).toBeGreaterThan(20)
  })

  test('four providers on one store together check as many as one', async () => {
    const store = memoryDriver()
    const { users, asked } = slowUsers()
    const all = await Promise.all(Array.from({ length: 4 }, () => fixture({ users, storage: withLatency(store) })))
    await many(60, (index) => guess(all[index % 4] as Fixture, 'alice', `guess ${index}`))
    expect(asked).toHaveLength(5)
  })

  test.each([
    { limit: 'perUserAndAddress', from: () => home },
    { limit: 'perUser', from: address },
  ])('guesses in progress count in another process, which waits for them, $limit', async ({ limit, from }) => {
    const store = memoryDriver()
    const asked: string[] = []
    let fail = (): void => {}
    const failed = new Promise<void>((resolve) => {
      fail = resolve
    })
    let start = (): void => {}
    const started = new Promise<void>((resolve) => {
      start = resolve
    })
    const users = {
      async authenticate({ password }: { readonly password: string }) {
        asked.push(password)
        if (asked.length === 5) start()
        await failed
        return undefined
      },
    }
    const abuseControl = { passwords: { [limit]: { failures: 5, window: 600 } } }
    const busy = await fixture({ users, storage: store, abuseControl })
    let isCounting = false
    const storage: AtomicDriver = {
      ...store,
      incrementItem(...item) {
        if (isCounting) fail()
        return store.incrementItem(...item)
      },
    }
    const waiting = await fixture({ users, storage, abuseControl, runtime: { now: busy.clock.now } })
    isCounting = true
    const first = many(5, (index) => guess(busy, 'alice', `guess ${index}`, from(index)))
    await started
    expect((await guess(waiting, 'alice', 'another guess', from(5))).status).toBe(429)
    await first
    expect(asked).toHaveLength(5)
  })
})

describe('an attempt that ends abnormally', () => {
  test.each(commitPaths.flatMap(({ path }) => ['wrong', 'alice-password'].map((password) => ({ path, password }))))(
    'a store that fails at any step delays the user by no more than the regular wait: $password, $path',
    async ({ path, password }) => {
      let status = 503
      for (let broken = 0; status === 503; broken += 1) {
        const store = memoryDriver()
        let left = Number.POSITIVE_INFINITY
        const step = <T>(act: () => T): T => {
          left -= 1
          if (left < 0) throw new Error('connection lost')
          return act()
        }
        const storage: AtomicDriver = {
          getItem: (key) => step(() => store.getItem(key)),
          setItem: (key, value, options) => step(() => store.setItem(key, value, options)),
          insertItem: (key, value, options) => step(() => store.insertItem(key, value, options)),
          ...(path === 'atomic' && { commit: (changes) => step(() => store.commit(changes)) }),
          incrementItem: (key, options) => step(() => store.incrementItem(key, options)),
          replaceItem: (key, change) => step(() => store.replaceItem(key, change)),
          removeItem: (key) => step(() => store.removeItem(key)),
        }
        const f = await fixture({
          storage,
          abuseControl: { passwords: { perUserAndAddress: { failures: 1, window: 7 } } },
        })
        left = broken
        status = (await guess(f, 'alice', password)).status
        left = Number.POSITIVE_INFINITY
        f.clock.advance(7)
        expect((await right(f)).status, `after ${broken} operations`).toBe(200)
      }
      expect(status).toBe(password === 'wrong' ? 400 : 200)
    },
  )

  test('a user service that throws has checked nothing: the attempt does not count', async () => {
    let broken = true
    const f = await fixture({
      users: {
        authenticate() {
          if (broken) throw new Error('directory is away')
          return { sub: '1' }
        },
      },
    })
    for (let attempt = 0; attempt < 20; attempt += 1) expect((await right(f)).status).toBe(500)
    broken = false
    expect((await right(f)).status).toBe(200)
  })
})
