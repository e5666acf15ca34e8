/**
 * Attack: getting more guesses from permits that other attempts return or that have expired. An attacker who owns the
 * account `ALICE` logs in with it, which takes and returns permits that also count the guesses of the password of
 * `alice`. Permits that have expired by the provider's clock are still in the storage, and many guesses find them at
 * the same time.
 *
 * RFC 6749 section 4.3.2; docs/guides/abuse-control.md, "What is exact".
 */
import type { AtomicDriver } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { describe, expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { type Fixture, fixture } from '../support/fixture.ts'
import { address, guess, home, many } from '../support/guesses.ts'
import { commitPaths, withLatency } from '../support/latency.ts'

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, Math.random() * 10))

describe.concurrent.each(commitPaths)('with two processes, $path', ({ prepare }) => {
  /** Two providers on one store, and the wrong passwords that were checked. */
  async function started() {
    const checked: string[] = []
    const users = {
      async authenticate({ username, password }: { readonly username: string; readonly password: string }) {
        await pause()
        if (password === `${username}-password`) return { sub: username }
        checked.push(password)
        return undefined
      },
    }
    const storage = prepare(withLatency(memoryDriver()))
    const providers = await Promise.all(Array.from({ length: 2 }, () => fixture({ users, storage })))
    const at = (index: number): Fixture => providers[index % 2] as Fixture
    const advance = (seconds: number): void => {
      for (const { clock } of providers) clock.advance(seconds)
    }
    return { checked, at, advance }
  }

  test('logins of another spelling give no further guess', async () => {
    const { checked, at } = await started()
    await many(60, (index) =>
      index % 2 === 0 ? guess(at(index >> 1), 'ALICE', 'ALICE-password') : guess(at(index >> 1), 'alice', `${index}`),
    )
    expect(checked.length).toBeLessThanOrEqual(5)
  })

  test('expired permits give no further guess from one address', async () => {
    const { checked, at, advance } = await started()
    await many(5, (index) => guess(at(index), 'alice', `${index}`))
    advance(3600 + 900)
    checked.length = 0
    const responses = await many(40, (index) => guess(at(index), 'alice', `${index}`))
    expect(checked).toHaveLength(5)
    expect(responses.filter(({ status }) => status === 400)).toHaveLength(5)
    checked.length = 0
    advance(3600 + 900)
    await many(40, (index) => guess(at(index), 'alice', `${index}`))
    expect(checked).toHaveLength(5)
  })

  test('expired permits give no further guess from many addresses', async () => {
    const { checked, at, advance } = await started()
    await many(40, (index) => guess(at(index), 'alice', `${index}`, address(index)))
    expect(checked).toHaveLength(20)
    advance(3600 + 30)
    checked.length = 0
    await many(60, (index) => guess(at(index), 'alice', `${index}`, address(index)))
    expect(checked).toHaveLength(20)
  })

  test('a permit that is returned is used again, by as many logins as there are', async () => {
    const { checked, at } = await started()
    for (const from of [home, undefined]) {
      const responses = await many(32, (index) => guess(at(index), 'alice', 'alice-password', from))
      expect(responses.filter(({ status }) => status !== 200)).toEqual([])
    }
    // All permits were returned: five failures in succession.
    for (let failure = 0; failure < 5; failure += 1) expect((await guess(at(0), 'alice', 'x')).status).toBe(400)
    expect((await guess(at(1), 'alice', 'x')).status).toBe(429)
    expect(checked).toHaveLength(5)
  })
})

describe('an attempt that found a permit taken, and reads it slowly', () => {
  const passwords = { perUserAndAddress: { attempts: 1, delay: 600 } }

  /** Two providers on one store. */
  async function started() {
    const store = memoryDriver()
    const checked: string[] = []
    const held: (() => void)[] = []
    const users = {
      async authenticate({ username, password }: { readonly username: string; readonly password: string }) {
        if (username === 'ALICE') {
          await new Promise<void>((resolve) => held.push(resolve))
          return { sub: username }
        }
        checked.push(password)
        return undefined
      },
    }
    let isRefused = false
    let meanwhile: readonly [() => Promise<unknown>, () => Promise<unknown>] | undefined
    let earlier: ((key: string) => string | null) | undefined
    const slow: AtomicDriver = {
      ...store,
      insertItem(...item) {
        const created = store.insertItem(...item)
        isRefused ||= !created
        return created
      },
      commit(changes) {
        const outcome = store.commit(changes)
        isRefused ||= outcome !== true
        return outcome
      },
      async getItem(key) {
        if (isRefused && meanwhile !== undefined) {
          const [act, actUnseen] = meanwhile
          meanwhile = undefined
          await act()
          const items = store.getInstance() as ReadonlyMap<string, { readonly value: string }>
          await actUnseen()
          const reads = new Map<string, number>()
          // A read and its repetition.
          earlier = (read) => {
            reads.set(read, (reads.get(read) ?? 0) + 1)
            return (reads.get(read) ?? 0) <= 2 ? (items.get(read)?.value ?? null) : store.getItem(read)
          }
        }
        return (earlier ?? store.getItem)(key)
      },
    }
    const one = await fixture({ users, storage: store, abuseControl: { passwords } })
    const behind = await fixture({ users, storage: slow, abuseControl: { passwords } })
    /**
     * Guesses at the second provider. Acts when that attempt has found a permit taken, once before it reads the permit
     * and once after.
     */
    const guessWhile = async (password: string, ...acts: NonNullable<typeof meanwhile>) => {
      // The start of a provider creates the same item twice.
      isRefused = false
      meanwhile = acts
      const { status } = await guess(behind, 'alice', password)
      expect(meanwhile).toBeUndefined()
      return status
    }
    return { one, behind, guessWhile, checked, held }
  }

  test('does not remove it after another attempt has taken it: it was returned', async () => {
    const { one, guessWhile, checked, held } = await started()
    const login = guess(one, 'ALICE', 'ALICE-password')
    await eventually(() => expect(held).toHaveLength(1))
    const letGo = async () => {
      held[0]?.()
      expect((await login).status).toBe(200)
    }
    const status = await guessWhile('second', letGo, () => guess(one, 'alice', 'first'))
    expect(status).toBe(429)
    expect(checked).toEqual(['first'])
  })

  test('does not remove it after another attempt has taken it: it was expired', async () => {
    const { one, behind, guessWhile, checked } = await started()
    await guess(one, 'alice', 'long ago')
    for (const { clock } of [one, behind]) clock.advance(600 + 3600)
    checked.length = 0
    const status = await guessWhile(
      'second',
      async () => undefined,
      () => guess(one, 'alice', 'first'),
    )
    expect(status).toBe(429)
    expect(checked).toEqual(['first'])
  })
})
