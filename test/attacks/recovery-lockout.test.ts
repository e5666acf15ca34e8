/**
 * Attack: a stranger keeps the owner of an account from recovery: asks for mails until those of the address are used up, or
 * enters wrong codes until no more are checked.
 */
import { describe, expect, test } from 'vitest'
import { createBrowser } from '../authorization/browser.ts'
import { setUpAccounts } from '../self-service/parties.ts'

const address = 'alice@example.com'
const home = '203.0.113.5'

async function open() {
  const f = await setUpAccounts()
  const from = (host: string) => f.start({}, createBrowser(f.provider, host))
  const ask = async (host: string, to = address) => (await (await from(host)).ask('forgot', to)).status
  const signIn = async (host: string) => {
    const { page, submit } = await from(host)
    await submit(page, { username: 'alice', password: 'alice-password' })
  }
  /** Asks from many networks. */
  const flood = async (to = address) => {
    const statuses: number[] = []
    for (let host = 1; host <= 12; host += 1) statuses.push(await ask(`198.51.100.${host}`, to))
    return statuses.filter((status) => status === 200).length
  }
  return { ...f, ask, signIn, flood }
}

describe('the mails of an address', () => {
  test('19.5 that strangers use up leave those of networks in which the user has signed in', async () => {
    const { ask, signIn, flood, arrived } = await open()
    await signIn(home)
    expect(await flood()).toBe(5)
    expect(await ask('192.0.2.9')).toBe(429)
    expect(await ask(home)).toBe(200)
    expect(await arrived()).toHaveLength(6)
  })

  test('are not used up by one stranger', async () => {
    const { ask } = await open()
    const allowed = [await ask('198.51.100.1'), await ask('198.51.100.1'), await ask('198.51.100.1')]
    expect([...allowed, await ask('198.51.100.1')]).toEqual([200, 200, 200, 429])
    expect(await ask('192.0.2.9')).toBe(200)
  })

  test('are not used up by the networks of one IPv6 site', async () => {
    const { ask } = await open()
    for (let network = 1; network <= 9; network += 1) await ask(`2001:db8:1:${network}::1`)
    expect(await ask('192.0.2.9')).toBe(200)
  })

  test('are at most ten in an hour, from all networks together', async () => {
    const { ask, signIn, flood, arrived } = await open()
    for (let host = 1; host <= 8; host += 1) await signIn(`203.0.113.${host}`)
    await flood()
    for (let host = 1; host <= 8; host += 1) {
      for (let again = 0; again < 3; again += 1) await ask(`203.0.113.${host}`)
    }
    expect(await arrived()).toHaveLength(10)
  })

  test('19.1 are limited in the same way without an account', async () => {
    const known = await open()
    const unknown = await open()
    expect(await unknown.flood('eve@example.com')).toBe(await known.flood())
    expect(await unknown.ask('192.0.2.9', 'eve@example.com')).toBe(await known.ask('192.0.2.9'))
  })
})
