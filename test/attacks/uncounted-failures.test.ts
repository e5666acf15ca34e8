/**
 * Attack: the storage cannot count, for example because the server of the counters is down or a disk is full, but reads
 * and inserts still work. A wrong guess then gets 503 and a right one succeeds, so an attacker can distinguish them. If
 * such a guess did not count, the attacker could try any number of them until the storage has recovered.
 *
 * A failure that the storage did not count therefore counts in the process that handled it. A password attempt is counted
 * before its password is checked, so without a count nothing is checked.
 */
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { expect, test } from 'vitest'
import { type Fixture, fixture, web } from '../support/fixture.ts'
import { address, elsewhere, guess, home, many, right } from '../support/guesses.ts'

/** A provider that starts with a working counter, which then fails until `repair` is called. */
async function withoutCounter(more: Parameters<typeof fixture>[0] = {}) {
  const store = memoryDriver()
  const state = { failing: false }
  const f = await fixture({
    storage: {
      ...store,
      incrementItem(key, options) {
        if (state.failing) throw new Error('the server of the counters is down')
        return store.incrementItem(key, options)
      },
    },
    abuseControl: true,
    ...more,
  })
  state.failing = true
  const repair = () => {
    state.failing = false
  }
  return { f, repair }
}

const secretGuess = (f: Fixture, secret: string, from = elsewhere) =>
  f.post('token', { grant_type: 'client_credentials', scope: 'api1' }, ['web', secret], from)

async function statusesOf(count: number, act: (index: number) => Promise<{ status: number }>) {
  const statuses: number[] = []
  for (let index = 0; index < count; index += 1) statuses.push((await act(index)).status)
  return statuses
}

test('ten uncounted client secrets block the client at that address, also for the right secret', async () => {
  const { f } = await withoutCounter()
  expect(await statusesOf(12, (index) => secretGuess(f, `guess ${index}`))).toEqual([
    ...Array(10).fill(503),
    ...Array(2).fill(429),
  ])
  expect((await secretGuess(f, web[1])).status).toBe(429)
  expect((await secretGuess(f, web[1], home)).status).toBe(200)
})

test('fifty uncounted secrets of many clients block the address', async () => {
  const { f } = await withoutCounter()
  const form = { grant_type: 'client_credentials', scope: 'api1' }
  const statuses = await statusesOf(52, (index) => f.post('token', form, [`client-${index}`, 'guess'], elsewhere))
  expect(statuses).toEqual([...Array(50).fill(503), ...Array(2).fill(429)])
  expect((await secretGuess(f, web[1])).status).toBe(429)
  expect((await secretGuess(f, web[1], home)).status).toBe(200)
})

test('concurrently sent, the right secret after ten uncounted ones is not reported', async () => {
  const { f } = await withoutCounter()
  const responses = await many(40, (index) => secretGuess(f, index === 39 ? web[1] : `guess ${index}`))
  expect(responses.filter(({ status }) => status === 503)).toHaveLength(10)
  expect(responses.at(-1)?.status).toBe(429)
})

test('no password is checked while attempts cannot be counted, and none that was not checked counts', async () => {
  const asked: string[] = []
  const users = {
    authenticate({ password }: { readonly password: string }) {
      asked.push(password)
      return password === 'alice-password' ? { sub: '1' } : undefined
    },
  }
  const { f, repair } = await withoutCounter({ users })
  for (const from of [home, elsewhere, undefined]) {
    expect(await statusesOf(30, (index) => guess(f, 'alice', `guess ${index}`, from))).toEqual(Array(30).fill(503))
    expect((await right(f, from)).status).toBe(503)
  }
  expect(await statusesOf(30, (index) => guess(f, `name ${index}`, 'x', address(index)))).toEqual(Array(30).fill(503))
  expect(asked).toEqual([])
  repair()
  expect((await right(f)).status).toBe(200)
})

test('uncounted failures are added to those that the storage counts later, and end with the window', async () => {
  const { f, repair } = await withoutCounter()
  await statusesOf(4, (index) => secretGuess(f, `guess ${index}`))
  repair()
  expect(await statusesOf(7, (index) => secretGuess(f, `other ${index}`))).toEqual([...Array(6).fill(401), 429])
  expect((await secretGuess(f, web[1])).status).toBe(429)
  f.clock.advance(60)
  expect((await secretGuess(f, web[1])).status).toBe(200)
})
