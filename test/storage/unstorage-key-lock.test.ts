import { expect, test } from 'vitest'
import { createKeyLock } from '../../packages/storage-drivers/src/key-lock.ts'

/** Something that ends when the test says so. */
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

test('what happens to one key happens one after the other, in the order of the calls', async () => {
  const lock = createKeyLock()
  const first = pending()
  const order: string[] = []
  const one = lock('a', async () => {
    order.push('one begins')
    await first.promise
    order.push('one ends')
  })
  const two = lock('a', async () => void order.push('two'))
  const three = lock('a', async () => void order.push('three'))
  await settled()
  expect(order).toEqual(['one begins'])
  first.end()
  await Promise.all([one, two, three])
  expect(order).toEqual(['one begins', 'one ends', 'two', 'three'])
})

test('who comes when the first has ended waits for the second', async () => {
  const lock = createKeyLock()
  const [first, second] = [pending(), pending()]
  const one = lock('a', () => first.promise)
  const two = lock('a', () => second.promise)
  first.end()
  await one
  await settled()
  let begun = false
  const three = lock('a', async () => {
    begun = true
  })
  await settled()
  expect(begun).toBe(false)
  second.end()
  await Promise.all([two, three])
  expect(begun).toBe(true)
})

test('another key does not wait', async () => {
  const lock = createKeyLock()
  const first = pending()
  const one = lock('a', () => first.promise)
  expect(await lock('b', async () => 'free')).toBe('free')
  first.end()
  await one
})

test('a failure is the failure of its caller only, and the next one has its turn', async () => {
  const lock = createKeyLock()
  const first = pending()
  const one = lock('a', () => first.promise)
  const two = lock('a', async () => 'two')
  first.fail(new Error('EIO'))
  await expect(one).rejects.toThrow('EIO')
  expect(await two).toBe('two')
  expect(await lock('a', async () => 'three')).toBe('three')
})

test('of many at once none is lost, and none runs beside another', async () => {
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

test('what is idle is begun at once: nothing of it was kept', async () => {
  const lock = createKeyLock()
  await lock('a', async () => {})
  await expect(lock('a', () => Promise.reject(new Error('EIO')))).rejects.toThrow('EIO')
  await settled()
  let begun = false
  const next = lock('a', async () => {
    begun = true
  })
  // With an earlier one still in the way, it would begin a tick later.
  expect(begun).toBe(true)
  await next
})
