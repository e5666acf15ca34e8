import { expect, onTestFinished, test, vi } from 'vitest'
import { createCached } from '../../packages/resource-server/src/cached.ts'
import { createInFlight } from '../../packages/resource-server/src/in-flight.ts'

// A Worker cancels the fetches and timers of a request whose client has left. Requests that wait for the same result must
// not wait forever, and later requests must not wait for it at all.

const hung = <T>() => new Promise<T>(() => {})

test('a value whose attempt was abandoned is loaded by a later request', async () => {
  let now = 0
  let attempts = 0
  const load = () => (++attempts === 1 ? hung<string>() : Promise.resolve('value'))
  const find = createCached(load, { maxAge: 60, maxStale: 0, cooldown: 30, maxWait: 0.02, now: () => now })
  const waiting = await Promise.allSettled([find(), find()])
  expect(waiting.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  now += 5
  expect([await find(), attempts]).toEqual(['value', 2])
})

test('an attempt that was abandoned while an old value is used is followed by another one', async () => {
  let now = 0
  const attempts = [() => Promise.resolve('old'), () => Promise.reject(new Error('down')), () => hung<string>()]
  const load = () => (attempts.shift() ?? (() => Promise.resolve('new')))()
  const find = createCached(load, { maxAge: 60, maxStale: 3600, cooldown: 30, maxWait: 20, now: () => now })
  const foundAt = (time: number): Promise<string> => {
    now = time
    return find()
  }
  expect([await foundAt(0), await foundAt(60)]).toEqual(['old', 'old'])
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const waiting = foundAt(65)
  await vi.advanceTimersByTimeAsync(500)
  expect([await waiting, await foundAt(84), await foundAt(85)]).toEqual(['old', 'old', 'new'])
})

test('a result that never comes is waited for by the requests of its time only', async () => {
  const inFlight = createInFlight<string>(0.02)
  const first = inFlight('a', () => hung())
  const second = inFlight('a', () => Promise.resolve('not called'))
  const otherRead = inFlight('b', () => Promise.resolve('b'))
  const outcomes = await Promise.allSettled([first, second, otherRead])
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled'])
  expect(await inFlight('a', () => Promise.resolve('again'))).toBe('again')
})
