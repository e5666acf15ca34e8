/**
 * Attack: a client and others share an address, such as that of a gateway or a cluster. Ten wrong secrets in its name, of
 * an attacker or of a process with an old secret, must not shut it out where it has authenticated before. And the reverse:
 * an attacker at such an address must not get more than ten times the usual guesses, also in one burst, and must not learn
 * more than the client's own requests show.
 */
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { describe, expect, test } from 'vitest'
import { api1, clients, type Fixture, fixture, otherClient, web } from '../support/fixture.ts'
import { pause } from '../support/pause.ts'

const gateway = '192.0.2.1'
const elsewhere = '198.51.100.7'
const grant = { grant_type: 'client_credentials', scope: 'api1' }
const times = (count: number, status: number): number[] => Array(count).fill(status)

const asClient = (f: Fixture, secret: string, from = gateway, id = 'web') =>
  f.post('token', grant, [id, secret], from).then(({ status }) => status)
const asScope = (f: Fixture, secret: string, from = gateway) =>
  f.post('introspection', { token: 'x' }, ['api1', secret], from).then(({ status }) => status)

const owners = [
  ['a client', asClient, web[1]],
  ['a scope', asScope, api1[1]],
] as const

async function guesses(count: number, act: (secret: string) => Promise<number>): Promise<number[]> {
  const statuses: number[] = []
  for (let index = 0; index < count; index += 1) statuses.push(await act(`guess ${index}`))
  return statuses
}

describe.each(owners)('%s at an address where it has authenticated', (_name, send, secret) => {
  test('gets in during a burst of wrong secrets, which get 429', async () => {
    const f = await fixture({ abuseControl: true })
    expect(await send(f, secret)).toBe(200)
    expect(await guesses(30, (guess) => send(f, guess))).toEqual([...times(10, 401), ...times(20, 429)])
    expect(await send(f, secret)).toBe(200)
    // Not where it has never been.
    await guesses(11, (guess) => send(f, guess, elsewhere))
    expect(await send(f, secret, elsewhere)).toBe(429)
  })

  test('is refused after a hundred wrong secrets, until the window ends', async () => {
    const f = await fixture({ abuseControl: true })
    expect(await send(f, secret)).toBe(200)
    expect(await guesses(110, (guess) => send(f, guess))).toEqual([...times(10, 401), ...times(100, 429)])
    expect(await send(f, secret)).toBe(429)
    f.clock.advance(60)
    expect(await send(f, secret)).toBe(200)
  })

  test('costs no operation of the storage more, and the flood none', async () => {
    let operations = 0
    const driver = memoryDriver()
    const storage = {
      ...driver,
      incrementItem(...parameters: Parameters<typeof driver.incrementItem>) {
        operations += 1
        return driver.incrementItem(...parameters)
      },
    }
    const f = await fixture({ abuseControl: true, storage })
    await send(f, secret)
    await guesses(10, (guess) => send(f, guess))
    operations = 0
    await guesses(50, (guess) => send(f, guess))
    await send(f, secret)
    expect(operations).toBe(0)
  })
})

describe('an attacker at the address of a client', () => {
  test('who tries many clients shuts out none that has authenticated there, up to 500 wrong secrets', async () => {
    const f = await fixture({ abuseControl: true })
    expect(await asClient(f, web[1])).toBe(200)
    for (let index = 0; index < 60; index += 1) await asClient(f, 'x', gateway, `client ${index}`)
    expect(await asClient(f, web[1])).toBe(200)
    expect(await asClient(f, otherClient[1], gateway, otherClient[0])).toBe(429)
  })

  test('who tries clients that are all known there gets ten times the limit of the address', async () => {
    const credentials = { perAddress: { failures: 3 }, perClientAndAddress: { failures: 10 } }
    const f = await fixture({ abuseControl: { credentials } })
    const both = [web, otherClient]
    for (const [id, secret] of both) expect(await asClient(f, secret, gateway, id)).toBe(200)
    await guesses(3, (guess) => asClient(f, guess))
    for (let index = 0; index < 29; index += 1) await asClient(f, 'x', gateway, both[index % 2]?.[0])
    expect(await asClient(f, otherClient[1], gateway, otherClient[0])).toBe(200)
    expect(await asClient(f, 'x', gateway, otherClient[0])).toBe(429)
    for (const [id, secret] of both) expect(await asClient(f, secret, gateway, id)).toBe(429)
  })

  test('cannot make an address known by another client, or by another spelling', async () => {
    const f = await fixture({ abuseControl: true })
    expect(await asClient(f, otherClient[1], gateway, otherClient[0])).toBe(200)
    await guesses(11, (guess) => asClient(f, guess))
    expect(await asClient(f, web[1])).toBe(429)
    expect(await asClient(f, web[1], gateway, '%77eb')).toBe(429)
  })

  test('cannot make it known by requests that guess nothing', async () => {
    const f = await fixture({ abuseControl: true })
    expect(await asClient(f, '')).toBe(401)
    expect(await asClient(f, 'x'.repeat(513))).toBe(401)
    await guesses(11, (guess) => asClient(f, guess))
    expect(await asClient(f, web[1])).toBe(429)
  })

  test('gets no more guesses in one burst', async () => {
    const client = clients.find(({ clientId }) => clientId === 'web')
    let compared = 0
    const f = await fixture({
      abuseControl: true,
      clients: {
        find: (clientId) => (clientId === 'web' ? client : undefined),
        async verifySecret(_, secret) {
          compared += 1
          await pause(5)
          return secret === web[1]
        },
      },
    })
    expect(await asClient(f, web[1])).toBe(200)
    await guesses(10, (guess) => asClient(f, guess))
    compared = 0
    const burst = await Promise.all(Array.from({ length: 400 }, (_, index) => asClient(f, `guess ${index}`)))
    expect(new Set(burst)).toEqual(new Set([429]))
    expect(compared).toBe(100)
    expect(await asClient(f, web[1])).toBe(429)
  })

  test('sees 429 for the right secret that was in flight when the limit tripped', async () => {
    const f = await fixture({
      abuseControl: true,
      clients: {
        async find(id) {
          await pause(5)
          return clients.find(({ clientId }) => clientId === id)
        },
      },
    })
    expect(await asClient(f, web[1])).toBe(200)
    const sent = [...Array.from({ length: 20 }, (_, index) => `guess ${index}`), web[1]]
    const statuses = await Promise.all(sent.map((secret) => asClient(f, secret)))
    expect(statuses.at(-1)).toBe(429)
    expect(await asClient(f, web[1])).toBe(200)
  })
})
