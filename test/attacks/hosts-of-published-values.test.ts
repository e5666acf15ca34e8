/**
 * Attack: an attacker blocks or slows down the host of another party, whose keys or documents a provider or an API reads, or
 * leaves while they are being read: a Worker ends the request, with its fetches and timers. All other requests must neither
 * wait without end, nor get what the party has replaced meanwhile, such as a stolen key.
 */
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { keys, type PublishedValue } from '../support/published-host.ts'
import { apiValues, keySets, publishedValues } from '../support/published-values.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

/** Lets everything happen that waits for no timer. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 100; turn += 1) await new Promise(setImmediate)
}

async function fetchedTimes({ fetches }: PublishedValue, times: number): Promise<void> {
  while (fetches() < times) await new Promise(setImmediate)
}

/**
 * Lets a request do what it can, also by threads, before time passes. Otherwise a busy machine makes it late for limits that
 * are not the subject.
 */
async function worked(): Promise<void> {
  for (let step = 0; step < 10; step += 1) {
    await crypto.subtle.digest('SHA-256', new Uint8Array(1))
    await new Promise(setImmediate)
  }
}

/** Ends timers, although the clocks of providers stand still, until a request has ended. */
async function ended(request: Promise<boolean>): Promise<boolean> {
  let isOver = false
  const over = () => {
    isOver = true
  }
  onTestFinished(over)
  void request.then(over, over)
  while (!isOver) {
    await worked()
    await vi.advanceTimersByTimeAsync(1000)
  }
  return request
}

/** More seconds than an attempt takes anywhere. */
const longer = 65

/** A request whose host does not respond, and which a Worker has ended. Returns what lets the host respond nevertheless. */
async function abandoned(value: PublishedValue): Promise<() => void> {
  let respond = () => {}
  value.respond(
    (usual) =>
      new Promise((resolve) => {
        const response = usual()
        respond = () => resolve(response)
      }),
  )
  void value.sees('first')
  await fetchedTimes(value, 1)
  vi.clearAllTimers()
  return respond
}

describe.each(publishedValues)('%s', (_name, open) => {
  test('are read once for concurrent requests', async () => {
    const value = await open()
    expect(await Promise.all(Array.from({ length: 6 }, () => value.sees('first')))).not.toContain(false)
    expect(value.fetches()).toBe(1)
  })

  test('that are read for a request which has been ended let no request that waits for them hang', async () => {
    const value = await open()
    await abandoned(value)
    expect(await ended(value.sees('first'))).toBe(false)
  })

  test('that are read for a request which has been ended are read again by the first one that comes later', async () => {
    const value = await open()
    await abandoned(value)
    await value.pass(longer)
    value.respond()
    expect(await value.sees('first')).toBe(true)
  })

  test('of a response that comes late do not replace newer ones', async () => {
    const value = await open()
    const respond = await abandoned(value)
    await value.pass(longer)
    value.respond()
    value.publishes('second')
    expect(await value.sees('second')).toBe(true)
    respond()
    await turns()
    expect(await value.sees('first')).toBe(false)
    expect(await value.sees('second')).toBe(true)
  })

  test('of a host that is slow to fail are read again after a pause from its end', async () => {
    const value = await open()
    let fail = () => {}
    value.respond(() => new Promise((_, reject) => (fail = () => reject(new Error('closed')))))
    const first = value.sees('first')
    await fetchedTimes(value, 1)
    await value.pass(2)
    fail()
    expect(await first).toBe(false)
    value.respond()
    await value.pass(value.pause - 1)
    expect(await value.sees('first')).toBe(false)
    expect(value.fetches()).toBe(1)
    await value.pass(1)
    expect(await value.sees('first')).toBe(true)
  })

  test.each([203, 404, 500])('in a response with the status %i are not used', async (status) => {
    const value = await open()
    value.respond((usual) => new Response(usual().body, { status, headers: { 'content-type': 'application/json' } }))
    expect(await value.sees('first')).toBe(false)
  })

  test('are renewed after their time, also for a request that a Worker ends as soon as it has its response', async () => {
    const value = await open()
    expect(await value.sees('first')).toBe(true)
    value.publishes('second')
    value.respond(async (usual) => {
      await new Promise(setImmediate)
      return usual()
    })
    await value.pass(value.renewal)
    expect(await value.sees('second')).toBe(true)
  })

  test('that are known are used while the host fails, and not longer than their time', async () => {
    const value = await open()
    expect(await value.sees('first')).toBe(true)
    value.respond(() => new Response('', { status: 503 }))
    await value.pass(value.usable - 1)
    expect(await value.sees('first')).toBe(true)
    // A failure counts for seconds, too.
    await value.pass(11)
    expect(await value.sees('first')).toBe(false)
  })
})

const { kid: _, ...anonymous } = keys.first.jwk
const others = (count: number, more: object = {}): readonly object[] =>
  Array.from({ length: count }, (_unused, index) => ({ ...anonymous, kid: `other-${index}`, ...more }))

describe.each(keySets)('%s', (_name, open) => {
  test.each<[what: string, jwks: readonly unknown[], isAccepted: boolean]>([
    ['50 keys', [...others(49), keys.first.jwk], true],
    ['51 keys', [...others(50), keys.first.jwk], false],
    ['10,000 keys, which a search would read for each made-up id', [...others(9999), keys.first.jwk], false],
    ['two keys of one id', [{ ...keys.second.jwk, kid: 'first' }, keys.first.jwk], true],
    ['three keys of one id', [...others(2, { kid: 'first' }), keys.first.jwk], false],
    ['keys that are none', [null, 1, 'x', [], {}, { kty: 'RSA', kid: 'first' }], false],
    ['no keys', [], false],
  ])('with %s', async (_what, jwks, isAccepted) => {
    const value = await open()
    value.publish(...jwks)
    expect(await value.accepts(keys.first)).toBe(isAccepted)
  })
})

// Each request that waits occupies a connection of the API.
describe.each(apiValues)('%s: of a host that does not respond', (_name, open) => {
  test('1,000 requests wait, and others end immediately', async () => {
    const { authorize, respond } = await open()
    respond(() => new Promise(() => {}))
    let over = 0
    const requests = Array.from({ length: 1100 }, () => authorize().finally(() => (over += 1)))
    await turns()
    expect(over).toBe(100)
    await vi.advanceTimersByTimeAsync(longer * 1000)
    expect(new Set(await Promise.all(requests))).toEqual(new Set([503]))
  })

  test('more than 1,000 use what is known', async () => {
    const { authorize, respond, pass, renewal } = await open()
    expect(await authorize()).toBe(200)
    await pass(renewal)
    respond(() => new Promise(() => {}))
    const requests = Array.from({ length: 1100 }, () => authorize())
    await vi.advanceTimersByTimeAsync(longer * 1000)
    expect(new Set(await Promise.all(requests))).toEqual(new Set([200]))
  })
})
