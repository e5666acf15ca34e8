/**
 * Attack: a thief of a password guesses the code of the second factor, slowly and for months, or with many requests at
 * the same moment; or sends wrong codes so that the owner is locked out.
 *
 * NIST SP 800-63B section 5.2.2; RFC 6238 section 5.2; RFC 4226 section 7.3.
 */
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { describe, expect, test } from 'vitest'
import { passwordAt, setUpFactors } from '../sign-in/one-time-password-parties.ts'
import { nameOf } from '../sign-in/parties.ts'
import { withLatency } from '../support/latency.ts'

const home = '192.0.2.1'
const thief = '198.51.100.7'

type F = Awaited<ReturnType<typeof setUpFactors>>

/** Enters the right code, as late as no earlier one was used. */
async function enterRight({ passed, clock }: F, from: string) {
  clock.advance(60)
  return (await passed({}, from)).enterCode(passwordAt(clock.now()))
}

/** Enters wrong codes, and returns how many were checked. */
async function guess({ passed }: F, count: number, from = thief): Promise<number> {
  let checked = 0
  for (let index = 0; index < count; index += 1) {
    const { html } = await (await passed({}, from)).enterCode('000000')
    if (html.includes('wrong_code')) checked += 1
  }
  return checked
}

describe('a thief of the password', () => {
  test('cannot lock the owner out where the owner has signed in before', async () => {
    const f = await setUpFactors()
    expect(nameOf(await enterRight(f, home))).toBe('consent')
    expect(await guess(f, 20)).toBe(10)
    expect(nameOf(await enterRight(f, home))).toBe('consent')
    expect((await enterRight(f, thief)).html).toContain('too_many_attempts')
  })

  test('gets 429 with Retry-After until the window ends', async () => {
    const f = await setUpFactors()
    await guess(f, 10)
    const refused = await (await f.passed({}, thief)).enterCode(passwordAt(f.clock.now()))
    const wait = Number(refused.headers.get('retry-after'))
    expect([refused.status, wait > 0 && wait <= 900]).toEqual([429, true])
    expect(refused.html).toContain(`"retryAfter":${wait}`)
    f.clock.advance(wait)
    expect(nameOf(await enterRight(f, thief))).toBe('consent')
  })

  test('gets at most 100 wrong codes in a row checked, in months and at any address', async () => {
    const f = await setUpFactors()
    expect(nameOf(await enterRight(f, home))).toBe('consent')
    let checked = 0
    for (let day = 0; day < 8; day += 1) {
      checked += (await guess(f, 11, `198.51.100.${day}`)) + (await guess(f, 11, home))
      f.clock.advance(86_400)
    }
    expect(checked).toBe(100)
    const refused = await (await f.passed({}, thief)).enterCode(passwordAt(f.clock.now()))
    expect(refused.status).toBe(429)
    // Longer than anything that a page could show in seconds.
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(86_400)
    expect(refused.html).not.toContain('retryAfter')
  })

  test('does not keep the owner out after a new password: a revocation starts the counts again', async () => {
    const f = await setUpFactors()
    for (let window = 0; window < 6; window += 1) {
      await guess(f, 10)
      f.clock.advance(900)
    }
    expect((await enterRight(f, home)).status).toBe(429)
    await f.provider.revoke({ subject: 'alice' })
    expect(nameOf(await enterRight(f, home))).toBe('consent')
  })

  test('gets no more guesses by sending 40 codes at the same moment, under latency', async () => {
    const f = await setUpFactors({}, { storage: withLatency(memoryDriver()) })
    const pages = await Promise.all(Array.from({ length: 40 }, () => f.passed({}, thief)))
    const answers = await Promise.all(pages.map(({ enterCode }) => enterCode('000000')))
    expect(answers.filter(({ html }) => html.includes('wrong_code'))).toHaveLength(10)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(30)
  })

  test('gets no more guesses by the sign-ins of the owner at another address', async () => {
    const f = await setUpFactors()
    expect(nameOf(await enterRight(f, home))).toBe('consent')
    let checked = 0
    for (let day = 0; day < 10; day += 1) {
      checked += await guess(f, 11)
      expect(nameOf(await enterRight(f, home))).toBe('consent')
      f.clock.advance(86_400)
    }
    expect(checked).toBe(50)
  })
})

test('the right codes of a user count for nothing', async () => {
  const f = await setUpFactors()
  for (let index = 0; index < 60; index += 1) expect(nameOf(await enterRight(f, home))).toBe('consent')
})
