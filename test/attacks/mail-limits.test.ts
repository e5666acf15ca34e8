/**
 * Attack: a stranger uses up the mails of all users: from many networks, with the address of one user or with made-up
 * addresses; or from the many networks of one IPv6 site. Or a user does, with changes of the own account.
 */
import { memoryDriver } from '@grantry/storage-drivers/memory'
import type { TestProviderOptions } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { setUpAddress } from '../account/addresses.ts'
import { accountUri } from '../account/parties.ts'
import { createBrowser } from '../authorization/browser.ts'
import { aliceAccount, codeIn, setUpAccounts, titleOf } from '../self-service/parties.ts'
import { withLatency } from '../support/latency.ts'

const known = 'alice@example.com'

type Storage = NonNullable<TestProviderOptions['storage']>

async function open(limits: Readonly<Record<string, number>>, storage?: Storage) {
  const f = await setUpAccounts({ signUp: 'open', limits }, storage && { provider: { storage } })
  const ask = async (from: string, address: string, link = 'forgot') =>
    (await (await f.start({}, createBrowser(f.provider, from))).ask(link, address)).status
  return { ...f, ask }
}

/** With more users. */
async function openWithUsers(limits: Readonly<Record<string, number>>, count = 10, storage?: Storage) {
  const f = await open(limits, storage)
  const users = Array.from({ length: count }, (_, index) => `user${index}@example.com`)
  for (const email of users)
    f.memory.users.set(email, { ...aliceAccount, claims: {}, sub: email, username: email, email })
  return { ...f, users }
}

describe('the mails of all', () => {
  test('are not used up by requests for one address beyond its limit', async () => {
    const { ask } = await open({ perAddress: 2, total: 4 })
    for (let host = 1; host <= 10; host += 1) await ask(`198.51.100.${host}`, 'bob@example.com', 'create')
    expect(await ask('203.0.113.1', known)).toBe(200)
  })

  test('are not used up by requests for addresses without an account', async () => {
    const { ask } = await open({ total: 4 })
    for (let host = 1; host <= 10; host += 1) await ask(`198.51.100.${host}`, `user${host}@example.com`)
    expect(await ask('203.0.113.1', known)).toBe(200)
  })

  test('19.5 are refused for both, an address with an account and one without, when they are used up', async () => {
    const { ask, arrived, users, clock } = await openWithUsers({ total: 10 })
    const askBoth = async () => [await ask('203.0.113.1', known), await ask('203.0.113.2', 'eve@example.com')]
    for (const [index, user] of users.slice(0, 7).entries()) await ask(`198.51.100.${index}`, user)
    expect([await askBoth(), await askBoth()]).toEqual([
      [200, 200],
      [429, 429],
    ])
    expect([await ask('203.0.113.1', known, 'create'), await ask('203.0.113.2', 'eve@example.com', 'create')]).toEqual([
      429, 429,
    ])
    expect(await arrived()).toHaveLength(8)
    clock.advance(3600)
    for (const [index, user] of users.slice(0, 7).entries()) await ask(`198.51.100.${index}`, user)
    expect(await askBoth()).toEqual([429, 429])
    clock.advance(86_400)
    for (const [index, user] of users.slice(0, 7).entries()) await ask(`198.51.100.${index}`, user)
    expect(await askBoth()).toEqual([200, 200])
    expect(await arrived()).toHaveLength(8 + 7 + 8)
  })

  test.each([3, 30, 300])(
    '19.5 are not used up by requests for addresses of users from %i networks, each at its limit',
    async (count) => {
      const { ask, lastMail, users, mails, start, provider } = await openWithUsers({ perNetwork: 2, total: 10 }, 600)
      const networks = Array.from({ length: count }, (_, index) => `198.51.${index >> 8}.${index & 255}`)
      // Each address twice, so that also the first mail of its day is gone.
      const asked = networks.map(async (network, index) => {
        const user = users[Math.floor(index / 2)] ?? ''
        return [await ask(network, user), await ask(network, user), await ask(network, user)]
      })
      expect((await Promise.all(asked)).flat().filter((status) => status === 429).length).toBeGreaterThanOrEqual(count)
      const { ask: askHere, submit } = await start({}, createBrowser(provider, '203.0.113.1'))
      const sent = await askHere('forgot', known)
      expect(sent.status).toBe(200)
      expect((await lastMail()).to).toBe(known)
      expect(titleOf(await submit(sent, { code: codeIn(await lastMail()) }))).toBe('Choose a new password')
      // One for each account, beside those that are for all.
      expect(mails.length).toBeLessThanOrEqual(7 + Math.ceil(count / 2) + 1)
    },
  )

  test('that are the first of their accounts in a day are all sent, also when they use up the rest at the same moment', async () => {
    const { ask, users, arrived } = await openWithUsers({ total: 10 }, 10, withLatency(memoryDriver()))
    const statuses = await Promise.all(users.map((user, index) => ask(`198.51.100.${index}`, user)))
    expect(new Set(statuses)).toEqual(new Set([200]))
    expect(await arrived()).toHaveLength(10)
  })

  test('that is the first of an account in a day is not taken by an address with another tag', async () => {
    const { ask, users, lastMail } = await openWithUsers({ total: 10 })
    for (const [index, user] of users.slice(0, 7).entries()) await ask(`198.51.100.${index}`, user)
    expect([await ask('198.51.100.8', 'alice+one@example.com'), await ask('198.51.100.9', known)]).toEqual([200, 200])
    expect((await lastMail()).to).toBe(known)
  })

  test('are not used up by sign-ups with made-up addresses: users recover, also elsewhere', async () => {
    const { ask, arrived } = await open({ total: 20 })
    const statuses: number[] = []
    for (let host = 1; host <= 30; host += 1) {
      statuses.push(await ask(`198.51.100.${host}`, `user${host}@example.com`, 'create'))
    }
    expect(statuses).toEqual([...Array(8).fill(200), ...Array(22).fill(429)])
    expect(await ask('203.0.113.1', known)).toBe(200)
    expect(await arrived()).toHaveLength(9)
  })

  test('are not used up by requests for the addresses of users, where these have signed in', async () => {
    const { ask, users, start, provider } = await openWithUsers({ total: 10 })
    const home = '203.0.113.1'
    const { page, submit } = await start({}, createBrowser(provider, home))
    await submit(page, { username: 'alice', password: 'alice-password' })
    for (const [index, user] of users.entries()) await ask(`198.51.100.${index}`, user)
    for (let host = 1; host <= 10; host += 1) await ask(`198.51.100.${host}`, `new${host}@example.com`, 'create')
    const elsewhere = async () => ask('203.0.113.99', known)
    expect([await ask(home, known), await elsewhere(), await elsewhere(), await ask(home, known)]).toEqual([
      200, 200, 429, 200,
    ])
  })

  test('are not used up from the networks of one IPv6 site', async () => {
    const { ask } = await open({ perNetwork: 1, total: 20 })
    for (let network = 1; network <= 30; network += 1) {
      await ask(`2001:db8:1:${network.toString(16)}::1`, `user${network}@example.com`, 'create')
    }
    expect(await ask('203.0.113.1', known)).toBe(200)
  })
})

test('19.5 users who change their addresses use up no first change of another user in a day', async () => {
  const f = await setUpAddress({}, { account: { mailLimits: { total: 10, perAddress: 1000 } } })
  const alice = await f.signedIn()
  for (let index = 0; index < 5; index += 1) await f.ask(alice.browser, `new${index}@example.com`)
  expect(f.mails).toHaveLength(3)
  await f.ask((await f.signedIn('bob')).browser, 'robert@example.com')
  expect(await f.mailsTo('robert@example.com')).toHaveLength(1)
})

test('a user who changes the profile in a loop uses up no mails of others, and hides no mail about another change', async () => {
  const f = await setUpAddress({}, { account: { passwords: {} } })
  const { browser } = await f.signedIn()
  const form = await browser.open(`${accountUri}/profile`)
  for (let change = 0; change < 30; change += 1) await f.send(browser, form, { name: `Alice ${change}` })
  expect(f.events.filter((event) => event.type === 'account_changed')).toHaveLength(30)
  expect(await f.mailsTo('alice@example.com')).toHaveLength(10)
  await f.send(browser, await browser.open(`${accountUri}/password`), { password: 'correct horse battery' })
  expect(await f.mailsTo('alice@example.com')).toHaveLength(11)
})
