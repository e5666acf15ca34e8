// The host's code may return promises that are not `instanceof Promise`: from another realm (Jest, vm), or from a
// library.
import { runInNewContext } from 'node:vm'
import { type AtomicDriver, createProvider, signingKeys } from '@grantry/core'
import { mapDriver } from '@grantry/testing'
import { expect, test } from 'vitest'
import { lastResort } from '../support/eventually.ts'
import { fixture } from '../support/fixture.ts'

/** The rejections that stayed unhandled while this ran. */
async function uncaughtDuring(run: () => Promise<void>): Promise<readonly string[]> {
  const uncaught: string[] = []
  const others = process.listeners('unhandledRejection')
  process.removeAllListeners('unhandledRejection')
  const note = (reason: unknown): void => void uncaught.push(String(reason))
  process.on('unhandledRejection', note)
  try {
    await run()
    // Node.js reports them after the microtasks of a turn.
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
  } finally {
    process.off('unhandledRejection', note)
    for (const listener of others) process.on('unhandledRejection', listener)
  }
  return uncaught
}

test.each<[string, () => unknown]>([
  // biome-ignore lint/suspicious/noThenProperty: that it has one is the point.
  ['a thenable', () => ({ then: () => {} })],
  ['a promise of another realm', () => runInNewContext('new Promise(() => {})')],
])('the time limit applies to %s too', async (_what, never) => {
  const driver = mapDriver()
  let hangs = false
  const storage = { ...driver, getItem: (key: string) => (hangs ? never() : driver.getItem(key)) } as AtomicDriver
  const { provider } = await fixture({ storage, storageTimeLimit: 0.05 })
  hangs = true
  const late = new Promise((resolve) => setTimeout(() => resolve('it hangs'), lastResort).unref())
  expect(await Promise.race([provider.isReady(), late])).toBe(false)
})

test('an observer of another realm that rejects does not end the process', async () => {
  const observe = runInNewContext('async () => { throw new Error("of the observer") }')
  const uncaught = await uncaughtDuring(async () => {
    await fixture({ observe })
  })
  expect(uncaught).toEqual([])
})

test('a driver that rejects some inserts and throws at others is reported at start, as a single error', async () => {
  let calls = 0
  const storage: AtomicDriver = {
    ...mapDriver(),
    insertItem() {
      calls += 1
      if (calls > 3) throw new Error('the pool is exhausted')
      return Promise.reject(new Error('refused'))
    },
  }
  const options = { issuer: 'https://id.example.com', keys: signingKeys(), clients: [], plugins: [] } as const
  const uncaught = await uncaughtDuring(async () => {
    await expect(createProvider({ ...options, storage })).rejects.toThrow('cannot be used')
  })
  expect(uncaught).toEqual([])
})
