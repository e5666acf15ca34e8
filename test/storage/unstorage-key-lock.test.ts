import { expect, test } from 'vitest'
import { createKeyLock } from '../../packages/storage-drivers/src/key-lock.ts'

/** A promise that the test settles. */
function pending() {
  let end = (): void => {}
  let fail = (_: Error): void => {}
  const promise = new Promise<void>((resolve, reject) => {
    end = resolve
    fail = reject
  })
  return { promise, end, fail }
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('runs calls for one key in sequence, in the order of the calls', async () => {
  const lock = createKeyLock()
  const first = pending()
  const order: string[] = []
  const firstCall = lock('a', async () => {
    order.push('first begins')
    await first.promise
    order.push('first ends')
  })
  const secondCall = lock('a', async () => void order.push('second'))
  const thirdCall = lock('a', async () => void order.push('third'))
  await settled()
  expect(order).toEqual(['first begins'])
  first.end()
  await Promise.all([firstCall, secondCall, thirdCall])
  expect(order).toEqual(['first begins', 'first ends', 'second', 'third'])
})

test('a call that arrives after the first has ended waits for the second', async () => {
  const lock = createKeyLock()
  const [first, second] = [pending(), pending()]
  const firstCall = lock('a', () => first.promise)
  const secondCall = lock('a', () => second.promise)
  first.end()
  await firstCall
  await settled()
  let begun = false
  const thirdCall = lock('a', async () => {
    begun = true
  })
  await settled()
  expect(begun).toBe(false)
  second.end()
  await Promise.all([secondCall, thirdCall])
  expect(begun).toBe(true)
})

test('does not block another key', async () => {
  const lock = createKeyLock()
  const first = pending()
  const holder = lock('a', () => first.promise)
  expect(await lock('b', async () => 'free')).toBe('free')
  first.end()
  await holder
})

test('a failure rejects only its own caller, and the next call runs', async () => {
  const lock = createKeyLock()
  const first = pending()
  const failing = lock('a', () => first.promise)
  const waiting = lock('a', async () => 'two')
  first.fail(new Error('EIO'))
  await expect(failing).rejects.toThrow('EIO')
  expect(await waiting).toBe('two')
  expect(await lock('a', async () => 'three')).toBe('three')
})

test('runs all of many concurrent calls, never two of one key at a time', async () => {
  const lock = createKeyLock()
  let running = 0
  let most = 0
  const results = await Promise.all(
    Array.from({ length: 200 }, (_, index) =>
      lock(`key ${index % 3}`, async () => {
        running += 1
        most = Math.max(most, running)
        await settled()
        running -= 1
        return index
      }),
    ),
  )
  expect(results).toEqual(Array.from({ length: 200 }, (_, index) => index))
  expect(most).toBe(3)
})

test('starts synchronously for an idle key, for which it keeps no state', async () => {
  const lock = createKeyLock()
  await lock('a', async () => {})
  await expect(lock('a', () => Promise.reject(new Error('EIO')))).rejects.toThrow('EIO')
  await settled()
  let begun = false
  const next = lock('a', async () => {
    begun = true
  })
  // With an earlier call still registered, it would start a tick later.
  expect(begun).toBe(true)
  await next
})
