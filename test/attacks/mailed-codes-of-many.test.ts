/**
 * Attack: a stranger guesses the codes of mails to many addresses, a few of each: one is right at some time. Or fills the
 * storage with the wrong codes of made-up addresses, or keeps users from entering the right ones.
 *
 * NIST SP 800-63B-4 section 3.2.2; decision 162.
 */
import type { AtomicDriver } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { describe, expect, test } from 'vitest'
import { codeUri, setUpAddress } from '../account/addresses.ts'
import { accountUri } from '../account/parties.ts'
import { createBrowser, hiddenFields } from '../authorization/browser.ts'
import { aliceAccount, codeIn, linkIn, setUpAccounts, titleOf } from '../self-service/parties.ts'

const known = 'alice@example.com'
const proved = 'Choose a new password'
const wrong = (right: string): string => (right === '000000' ? '000001' : '000000')

/** 40 users, and a function that asks for a mail at an address and enters its code. */
async function setUpGuesses(limits: Readonly<Record<string, number>>) {
  const f = await setUpAccounts({ limits: { perAddress: 1000, ...limits }, signUp: 'open' })
  const users = Array.from({ length: 40 }, (_, index) => `user${index}@example.com`)
  for (const email of users)
    f.memory.users.set(email, { ...aliceAccount, claims: {}, sub: email, username: email, email })
  async function asked(from: string, address: string, link: 'forgot' | 'create' = 'forgot') {
    const { ask, submit, browser } = await f.start({}, createBrowser(f.provider, from))
    const sent = await ask(link, address)
    const mail = await f.lastMail()
    const enter = (code: string) => submit(sent, { code })
    return { browser, mail, right: () => enter(codeIn(mail)), guess: () => enter(wrong(codeIn(mail))) }
  }
  return { ...f, users, asked }
}

describe('the codes of mails to many addresses', () => {
  test('19.4 cannot be guessed from one network, beyond as many wrong ones as its mails', async () => {
    const { asked, users, clock } = await setUpGuesses({ perNetwork: 6 })
    const mails: Awaited<ReturnType<typeof asked>>[] = []
    for (const user of users.slice(0, 4)) mails.push(await asked('198.51.100.1', user))
    const statuses: number[] = []
    for (const { guess } of mails) for (let tries = 0; tries < 3; tries += 1) statuses.push((await guess()).status)
    expect(statuses).toEqual([...Array(6).fill(200), ...Array(6).fill(429)])
    const [, , , last] = mails
    expect((await last?.right())?.status).toBe(429)
    // What was refused does not count for the address.
    expect(titleOf(await (await asked('203.0.113.1', 'user3@example.com')).right())).toBe(proved)
    clock.advance(3600)
    expect(titleOf(await (await asked('198.51.100.1', 'user2@example.com')).right())).toBe(proved)
  })

  test('19.4 cannot be guessed from many networks, and do not keep a user from the own code or link', async () => {
    const { asked, users } = await setUpGuesses({ total: 100 })
    const home = '203.0.113.1'
    expect(titleOf(await (await asked(home, known)).right())).toBe(proved)
    const statuses: number[] = []
    for (const [index, user] of users.slice(0, 15).entries()) {
      statuses.push((await (await asked(`198.51.100.${index}`, user)).guess()).status)
    }
    expect(statuses).toEqual([...Array(10).fill(200), ...Array(5).fill(429)])
    expect((await (await asked('198.51.100.99', known)).right()).status).toBe(429)
    expect(titleOf(await (await asked(home, known)).right())).toBe(proved)
    const { browser, mail } = await asked('198.51.100.98', known)
    expect(titleOf(await browser.open(linkIn(mail)))).toBe(proved)
  })

  test('19.4 of new accounts use up no code of users', async () => {
    const { asked } = await setUpGuesses({ total: 100 })
    const statuses: number[] = []
    for (let index = 0; index < 12; index += 1) {
      const { guess } = await asked(`198.51.100.${index}`, `made-up${index}@example.com`, 'create')
      statuses.push((await guess()).status)
    }
    expect(statuses).toEqual([...Array(10).fill(200), 429, 429])
    expect(titleOf(await (await asked('203.0.113.1', known)).right())).toBe(proved)
  })

  test('19.4 use up no code of a user in a network where the user has signed in with a password', async () => {
    const f = await setUpGuesses({ total: 100 })
    const home = createBrowser(f.provider, '203.0.113.1')
    const { page } = await f.start({}, home)
    const { username, password } = aliceAccount
    await home.submit('https://id.example.com/connect/signin', { ...hiddenFields(page), username, password })
    for (const [index, user] of f.users.slice(0, 12).entries()) {
      await (await f.asked(`198.51.100.${index}`, user)).guess()
    }
    expect((await (await f.asked('198.51.100.99', known)).right()).status).toBe(429)
    expect(titleOf(await (await f.asked('203.0.113.1', known)).right())).toBe(proved)
  })

  test('19.4 cannot be guessed at the same moment either, and right ones do not count', async () => {
    const f = await setUpGuesses({ perNetwork: 8 })
    const from = '198.51.100.1'
    for (const user of f.users.slice(0, 3)) expect(titleOf(await (await f.asked(from, user)).right())).toBe(proved)
    const mails: Awaited<ReturnType<typeof f.asked>>[] = []
    for (const user of f.users.slice(10, 15)) mails.push(await f.asked(from, user))
    const pages = await Promise.all(mails.flatMap(({ guess }) => Array.from({ length: 4 }, guess)))
    expect(pages.filter(({ status }) => status === 200)).toHaveLength(8)
  })

  test('that prove a new address count, too', async () => {
    const f = await setUpAddress({}, { account: { mailLimits: { perNetwork: 3 } } })
    const browser = createBrowser(f.provider, '198.51.100.1')
    await f.enter(browser, await browser.open(accountUri))
    const statuses: number[] = []
    for (const address of ['one@example.com', 'two@example.com', 'three@example.com']) {
      const page = await f.ask(browser, address)
      const code = wrong(codeIn((await f.mailsTo(address))[0] ?? { text: '' }))
      for (let tries = 0; tries < 2; tries += 1) {
        statuses.push((await browser.submit(codeUri, { ...hiddenFields(page), code })).status)
      }
    }
    expect(statuses).toEqual([200, 200, 200, 429, 429, 429])
  })
})

test('a wrong code of an address without an account leaves nothing for longer than 14 days', async () => {
  const longest = new Map<string, number>()
  const memory = memoryDriver()
  const keep = (key: string, ttl = Number.POSITIVE_INFINITY): void => void longest.set(key, ttl)
  const storage: AtomicDriver = {
    ...memory,
    setItem(key, value, options) {
      keep(key, options?.ttl)
      return memory.setItem(key, value, options)
    },
    insertItem(key, value, options) {
      keep(key, options.ttl)
      return memory.insertItem(key, value, options)
    },
    incrementItem(key, options) {
      keep(key, options.ttl)
      return memory.incrementItem(key, options)
    },
  }
  const f = await setUpAccounts({}, { provider: { storage } })
  const { ask, submit } = await f.start()
  const sent = await ask('forgot', 'made-up@example.com')
  longest.clear()
  expect((await submit(sent, { code: '000000' })).status).toBe(200)
  const lifetimes = [...longest.values()]
  expect(lifetimes.length).toBeGreaterThan(2)
  expect(Math.max(...lifetimes)).toBeLessThanOrEqual(1_209_600)
})
