/**
 * Attack: a stranger uses up the mails of all users: from many networks, with the address of one user or with made-up
 * addresses; or from the many networks of one IPv6 site. Or a user does, with changes of the own account.
 */
import { describe, expect, test } from 'vitest'
import { setUpAddress } from '../account/addresses.ts'
import { accountUri } from '../account/parties.ts'
import { createBrowser } from '../authorization/browser.ts'
import { aliceAccount, setUpAccounts } from '../self-service/parties.ts'

const known = 'alice@example.com'

async function open(limits: Readonly<Record<string, number>>) {
  const f = await setUpAccounts({ signUp: 'open', limits })
  const ask = async (from: string, address: string, link = 'forgot') =>
    (await (await f.start({}, createBrowser(f.provider, from))).ask(link, address)).status
  return { ...f, ask }
}

/** With ten more users. */
async function openWithUsers(limits: Readonly<Record<string, number>>) {
  const f = await open(limits)
  const users = Array.from({ length: 10 }, (_, index) => `user${index}@example.com`)
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

  test('are refused for both, an address with an account and one without, when they are used up', async () => {
    const { ask, arrived, users } = await openWithUsers({ total: 10 })
    for (const [index, user] of users.entries()) await ask(`198.51.100.${index}`, user)
    expect([await ask('203.0.113.1', known), await ask('203.0.113.2', 'eve@example.com')]).toEqual([429, 429])
    expect([await ask('203.0.113.1', known, 'create'), await ask('203.0.113.2', 'eve@example.com', 'create')]).toEqual([
      429, 429,
    ])
    expect(await arrived()).toHaveLength(7)
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
    const own = await start({}, createBrowser(provider, home))
    await own.submit(own.page, { username: 'alice', password: 'alice-password' })
    for (const [index, user] of users.entries()) await ask(`198.51.100.${index}`, user)
    for (let host = 1; host <= 10; host += 1) await ask(`198.51.100.${host}`, `new${host}@example.com`, 'create')
    expect([await ask(home, known), await ask('203.0.113.99', known)]).toEqual([200, 429])
  })

  test('are not used up from the networks of one IPv6 site', async () => {
    const { ask } = await open({ perNetwork: 1, total: 20 })
    for (let network = 1; network <= 30; network += 1) {
      await ask(`2001:db8:1:${network.toString(16)}::1`, `user${network}@example.com`, 'create')
    }
    expect(await ask('203.0.113.1', known)).toBe(200)
  })
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
