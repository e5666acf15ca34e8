/**
 * Attack: guessing passwords at the password grant: one after the other, many names with one password, all at once so that every guess is looked at before the first failure is counted, and
 * from several processes.
 *
 * RFC 6749 section 4.3.2: the server MUST protect the endpoint against brute force. Counting per user name and per client in fixed windows is our way; the default is 10
 * and 100 failures in 300 seconds.
 */

import { memoryDriver } from '@grantry/storage-drivers/memory'
import { describe, expect, test } from 'vitest'
import { type Fixture, fixture, other, web } from '../support/fixture.ts'
import { withLatency } from '../support/latency.ts'

const guess = (f: Fixture, username: string, password: string, as = web) =>
  f.post('token', { grant_type: 'password', username, password, scope: 'openid' }, as)
const right = (f: Fixture, as = web) => guess(f, 'alice', 'alice-password', as)
const many = (count: number, act: (index: number) => Promise<{ status: number }>) =>
  Promise.all(Array.from({ length: count }, (_, index) => act(index)))

describe('one after the other', () => {
  test('after ten failures the right password does not work either, until the window is over', async () => {
    const f = await fixture()
    for (let attempt = 0; attempt < 10; attempt += 1)
      expect((await guess(f, 'alice', `guess ${attempt}`)).status).toBe(400)
    const { status, body, headers } = await right(f)
    expect(status).toBe(429)
    expect(body.error).toBe('slow_down')
    const wait = Number(headers.get('retry-after'))
    expect(wait).toBeGreaterThan(0)
    expect(wait).toBeLessThanOrEqual(300)
    f.clock.advance(wait - 1)
    expect((await right(f)).status).toBe(429)
    f.clock.advance(1)
    expect((await right(f)).status).toBe(200)
  })

  test('through another client the name is slowed down as well', async () => {
    const f = await fixture()
    for (let attempt = 0; attempt < 10; attempt += 1) await guess(f, 'alice', 'wrong', attempt % 2 === 0 ? web : other)
    expect((await right(f)).status).toBe(429)
    expect((await right(f, other)).status).toBe(429)
  })

  test('another name is not slowed down', async () => {
    const f = await fixture()
    for (let attempt = 0; attempt < 10; attempt += 1) await guess(f, 'bob', 'wrong')
    expect((await right(f)).status).toBe(200)
  })

  test('one password tried on many names slows the client down, and that client only', async () => {
    const f = await fixture()
    for (let attempt = 0; attempt < 100; attempt += 1) await guess(f, `user ${attempt}`, 'Summer2026')
    expect((await right(f)).status).toBe(429)
    expect((await right(f, other)).status).toBe(200)
  })

  test('a success in between does not start the count anew', async () => {
    const f = await fixture()
    for (let attempt = 0; attempt < 9; attempt += 1) await guess(f, 'alice', 'wrong')
    expect((await right(f)).status).toBe(200)
    await guess(f, 'alice', 'wrong')
    expect((await right(f)).status).toBe(429)
  })

  test('who is not authenticated as a client counts for nobody', async () => {
    const f = await fixture()
    for (let attempt = 0; attempt < 30; attempt += 1) await guess(f, 'alice', 'wrong', ['web', 'wrong'])
    expect((await right(f)).status).toBe(200)
  })
})

describe('all at once', () => {
  test('the right guess that is sent behind a hundred wrong ones is not paid with tokens', async () => {
    const f = await fixture()
    const answers = await many(101, (index) => (index === 100 ? right(f) : guess(f, 'alice', `guess ${index}`)))
    expect(answers.at(-1)?.status).toBe(429)
  })

  // Password hashes are slow on purpose: a thousand guesses can be under way before the first one has failed.
  test('the right guess that comes while a hundred wrong ones are being looked at is not paid with tokens', async () => {
    let release: () => void = () => undefined
    const gate = new Promise<void>((resolve) => {
      release = resolve
    })
    const f = await fixture({
      users: {
        async authenticate({ password }) {
          if (password === 'alice-password') return { sub: '1' }
          await gate
          return undefined
        },
      },
    })
    const wrong = many(100, (index) => guess(f, 'alice', `guess ${index}`))
    const answer = right(f)
    // It has long been found right when the first wrong one is found wrong.
    await new Promise((resolve) => setTimeout(resolve, 20))
    release()
    await wrong
    expect((await answer).status).toBe(429)
  })

  test('the count is right after it: the next guess is refused', async () => {
    const f = await fixture({ storage: withLatency(memoryDriver()) })
    await many(50, (index) => guess(f, 'alice', `guess ${index}`))
    expect((await right(f)).status).toBe(429)
  })

  test('two processes on one store count together', async () => {
    const storage = memoryDriver()
    const [one, two] = [await fixture({ storage }), await fixture({ storage })]
    for (let attempt = 0; attempt < 5; attempt += 1) {
      await guess(one, 'alice', 'wrong')
      await guess(two, 'alice', 'wrong')
    }
    expect((await right(one)).status).toBe(429)
    expect((await right(two)).status).toBe(429)
  })
})
