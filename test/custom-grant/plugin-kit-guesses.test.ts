import { memoryDriver } from '@grantry/storage-drivers/memory'
import { describe, expect, test } from 'vitest'
import { kitOf } from '../support/kit-of.ts'
import { withLatency } from '../support/latency.ts'
import { setUp } from './plugin-kit.ts'

describe('limitGuesses()', () => {
  const limit = { name: 'pin', failures: 3, window: 600 }
  const wrong = async () => undefined
  const right = async () => 'found'

  test('answers so many wrong guesses of an address, and then refuses right ones too', async () => {
    const { provider, clock, events } = await setUp('page')
    const { limitGuesses } = kitOf(provider, 'page')
    for (let guess = 0; guess < 3; guess += 1) {
      expect(await limitGuesses(limit, '192.0.2.1', right)).toBe('found')
      expect(await limitGuesses(limit, '192.0.2.1', wrong)).toBeUndefined()
    }
    const refused = { code: 'slow_down', details: { status: 429, retryAfter: expect.any(Number) } }
    for (const guess of [wrong, right]) {
      await expect(limitGuesses(limit, '192.0.2.1', guess)).rejects.toMatchObject(refused)
    }
    expect(events.filter(({ type }) => type === 'abuse_limited')).toMatchObject([{ limit: 'plugin:page:pin' }])
    expect(await limitGuesses(limit, '192.0.2.2', right)).toBe('found')
    expect(await limitGuesses({ ...limit, name: 'other' }, '192.0.2.1', right)).toBe('found')
    clock.advance(600)
    expect(await limitGuesses(limit, '192.0.2.1', right)).toBe('found')
  })

  test('is exact over processes and concurrent guesses', async () => {
    const storage = withLatency(memoryDriver())
    const kits = await Promise.all(
      [0, 1, 2].map(async () => kitOf((await setUp('page', { storage })).provider, 'page')),
    )
    const guesses = await Promise.allSettled(
      Array.from({ length: 60 }, (_, index) => kits[index % 3]?.limitGuesses(limit, '192.0.2.1', wrong)),
    )
    expect(guesses.filter(({ status }) => status === 'fulfilled')).toHaveLength(3)
    for (const kit of kits) {
      await expect(kit.limitGuesses(limit, '192.0.2.1', right)).rejects.toMatchObject({ code: 'slow_down' })
    }
  })

  test('counts the addresses of one network together', async () => {
    const { provider } = await setUp('page')
    const { limitGuesses } = kitOf(provider, 'page')
    for (const host of ['1', '2', '3']) await limitGuesses(limit, `2001:db8::${host}`, wrong)
    await expect(limitGuesses(limit, '2001:db8::4', right)).rejects.toMatchObject({ code: 'slow_down' })
  })

  test('counts the guesses of all parts of a plugin together', async () => {
    const { provider, withKit } = await setUp('vault')
    const address = '192.0.2.1'
    expect(await withKit((kit) => kit.limitGuesses(limit, address, right))).toBe('found')
    for (let guess = 0; guess < 3; guess += 1) await withKit((kit) => kit.limitGuesses(limit, address, wrong))
    await expect(withKit((kit) => kit.limitGuesses(limit, address, right))).rejects.toBe('too_many_failures')
    await expect(kitOf(provider, 'vault').limitGuesses(limit, address, right)).rejects.toMatchObject({
      code: 'slow_down',
    })
    expect(await kitOf(provider, 'other').limitGuesses(limit, address, right)).toBe('found')
  })

  test('does not count a guess that failed', async () => {
    const { provider } = await setUp('page')
    const { limitGuesses } = kitOf(provider, 'page')
    const failing = async () => {
      throw new Error('The database is away')
    }
    for (let guess = 0; guess < 5; guess += 1) {
      await expect(limitGuesses(limit, '192.0.2.1', failing)).rejects.toThrow('The database is away')
    }
    expect(await limitGuesses(limit, '192.0.2.1', right)).toBe('found')
  })

  test.each([
    ['no address', limit, undefined, /requires the address/u],
    ['an empty address', limit, '', /requires the address/u],
    ['no failures', { ...limit, failures: 0 }, '192.0.2.1', /requires failures and window/u],
    ['a fraction of a second', { ...limit, window: 0.5 }, '192.0.2.1', /requires failures and window/u],
  ])('rejects %s', async (_, settings, address, message) => {
    const { provider } = await setUp('page')
    await expect(kitOf(provider, 'page').limitGuesses(settings, address as string, right)).rejects.toThrow(message)
  })
})
