/**
 * Attack: getting more guesses from numbers that other attempts give back, or from a window that has just begun. An
 * attacker who owns the account `ALICE` logs in with it, which draws and gives back numbers that also count the guesses of
 * the password of `alice`.
 *
 * RFC 6749 section 4.3.2; docs/guides/abuse-control.md, "What is exact".
 */
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { describe, expect, test } from 'vitest'
import { type Fixture, fixture } from '../support/fixture.ts'
import { address, guess, home, many } from '../support/guesses.ts'
import { commitPaths, withLatency } from '../support/latency.ts'
import { randomPause } from '../support/pause.ts'

/** Logs in, again if it had to wait for too long: the 10 seconds of a queue are few on a machine that is busy. */
async function logIn(at: Fixture, from: string | undefined): ReturnType<typeof guess> {
  const response = await guess(at, 'alice', 'alice-password', from)
  return response.failure === 'earlier_attempt_pending' ? logIn(at, from) : response
}

describe.concurrent.each(commitPaths)('with two processes, $path', ({ prepare }) => {
  /** Two providers on one store, and the wrong passwords that were checked. */
  async function started() {
    const checked: string[] = []
    const users = {
      async authenticate({ username, password }: { readonly username: string; readonly password: string }) {
        await randomPause(10)
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

  test('a new window gives five guesses from one address', async () => {
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

  test('a new window gives twenty guesses from many addresses', async () => {
    const { checked, at, advance } = await started()
    await many(40, (index) => guess(at(index), 'alice', `${index}`, address(index)))
    expect(checked).toHaveLength(20)
    advance(3600 + 30)
    checked.length = 0
    await many(60, (index) => guess(at(index), 'alice', `${index}`, address(index)))
    expect(checked).toHaveLength(20)
  })

  test('a number that is given back is used again, by as many logins as there are', async () => {
    const { checked, at } = await started()
    for (const from of [home, undefined]) {
      const responses = await many(32, (index) => logIn(at(index), from))
      expect(responses.filter(({ status }) => status !== 200)).toEqual([])
    }
    // No login counts: five failures in succession.
    for (let failure = 0; failure < 5; failure += 1) expect((await guess(at(0), 'alice', 'x')).status).toBe(400)
    expect((await guess(at(1), 'alice', 'x')).status).toBe(429)
    expect(checked).toHaveLength(5)
  })
})
