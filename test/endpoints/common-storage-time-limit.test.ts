import type { AtomicDriver } from '@grantry/core'
import { mapDriver } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { fixture, web } from '../support/fixture.ts'
import { inOneTrip, inOrder } from '../support/latency.ts'
import { issueTokens, refresh } from '../support/revocation.ts'

const methods = ['getItem', 'getItems', 'setItem', 'insertItem', 'commit'] as const
type Method = (typeof methods)[number]

/** Never settles, once `state.hangs` names the method. */
function hanging(driver: AtomicDriver = mapDriver()) {
  const state: { hangs: Method | undefined } = { hangs: undefined }
  const storage: AtomicDriver = { ...driver }
  for (const method of methods.filter((name) => name in driver)) {
    Object.assign(storage, {
      [method]: (...parameters: readonly never[]) =>
        state.hangs === method
          ? new Promise<never>(() => {})
          : (driver[method] as (...all: readonly never[]) => unknown)(...parameters),
    })
  }
  return { storage, state }
}

describe('a storage that does not respond', () => {
  test.each(methods)('1.21 is an outage after the time limit: %s', async (method) => {
    const driver = mapDriver()
    const { storage, state } = hanging(
      method === 'commit' ? driver : (method === 'getItems' ? inOneTrip : inOrder)(driver),
    )
    const f = await fixture({ storage, storageTimeLimit: 0.05 })
    const { refresh_token: token } = await issueTokens(f)
    state.hangs = method
    const { status, headers, body } = await refresh(f, token)
    expect([status, body.error, headers.get('retry-after')]).toEqual([503, 'temporarily_unavailable', '1'])
    expect(f.events).toContainEqual(
      expect.objectContaining({
        type: 'unhandled_failure',
        reason: 'storage_failed',
        cause: expect.objectContaining({ message: 'The storage did not respond within 0.05 s' }),
      }),
    )
    state.hangs = undefined
    expect((await refresh(f, token)).status).toBe(200)
  })

  test('1.21 is not ready', async () => {
    const { storage, state } = hanging()
    const { provider } = await fixture({ storage, storageTimeLimit: 0.05 })
    state.hangs = 'getItem'
    expect(await provider.isReady()).toBe(false)
  })

  test.each([...methods, 'incrementItem', 'open'])('is reported at start: %s', async (method) => {
    const storage = { ...mapDriver(), name: 'hanging', [method]: () => new Promise<never>(() => {}) }
    await expect(fixture({ storage, storageTimeLimit: 0.05 })).rejects.toMatchObject({
      name: 'Error',
      message: 'storage: hanging cannot be used: The storage did not respond within 1.5 s',
    })
  })

  test.each([0, -1, 61, Number.NaN, '5'])('rejects a time limit of %j at start', async (storageTimeLimit) => {
    await expect(fixture({ storageTimeLimit: storageTimeLimit as number })).rejects.toThrow(
      /storageTimeLimit must be (?:a number of seconds|0\.05 to 60 seconds)/u,
    )
  })

  test('1.21 a response in time leaves no timer behind', async () => {
    const driver = mapDriver()
    const storage: AtomicDriver = { ...driver, getItem: async (key) => driver.getItem(key) }
    const timers = () => process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length
    const before = timers()
    const f = await fixture({ storage })
    await f.post('token', { grant_type: 'client_credentials', scope: 'api1' }, web)
    expect(await f.provider.isReady()).toBe(true)
    await new Promise((resolve) => setImmediate(resolve))
    // Fewer, if a timer of other code has ended meanwhile.
    expect(timers()).toBeLessThanOrEqual(before)
  })
})
