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
import { aliceAccount, codeIn, setUpAccounts, titleOf, wrongCode } from '../self-service/parties.ts'

const known = 'alice@example.com'
const proved = 'Choose a new password'

/** Users, and a function that asks for a mail at an address and enters its code. */
async function setUpGuesses(limits: Readonly<Record<string, number>>, count = 40) {
  const f = await setUpAccounts({ limits: { perAddress: 1000, ...limits }, signUp: 'open' })
  const users = Array.from({ length: count }, (_, index) => `user${index}@example.com`)
  for (const email of users)
    f.memory.users.set(email, { ...aliceAccount, claims: {}, sub: email, username: email, email })
  async function asked(from: string, address: string, link: 'forgot' | 'create' = 'forgot') {
    const { ask, submit } = await f.start({}, createBrowser(f.provider, from))
    const sent = await ask(link, address)
    await f.provider.runTasks()
    // A made-up address gets none.
    const code = codeIn(f.mails.filter(({ to }) => to === address).at(-1))
    const enter = (entered: string) => submit(sent, { code: entered })
    return { right: () => enter(code), guess: () => enter(wrongCode(code)) }
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

  test.each([
    ['made-up addresses', 3],
    ['made-up addresses', 30],
    ['made-up addresses', 300],
    ['addresses of accounts', 3],
    ['addresses of accounts', 30],
    ['addresses of accounts', 300],
    ['sign-ups', 30],
  ])(
    '19.4 wrong ones of %s, from %i networks, each at its limit, use up no code of a user elsewhere',
    async (of, count) => {
      const { asked, events } = await setUpGuesses({ perNetwork: 2, total: 2000 }, count)
      const addressOf = (index: number) => (of === 'addresses of accounts' ? `user${index}` : `made-up${index}`)
      const networks = Array.from({ length: count }, (_, index) => `198.51.${index >> 8}.${index & 255}`)
      const guesses = networks.map(async (network, index) => {
        const { guess } = await asked(
          network,
          `${addressOf(index)}@example.com`,
          of === 'sign-ups' ? 'create' : 'forgot',
        )
        const statuses: number[] = []
        for (let tries = 0; tries < 3; tries += 1) statuses.push((await guess()).status)
        return statuses
      })
      expect(new Set((await Promise.all(guesses)).map(String))).toEqual(new Set(['200,200,429']))
      expect(events.filter(({ type }) => type === 'mail_proof_failed')).toHaveLength(3 * count)
      expect(titleOf(await (await asked('203.0.113.1', known)).right())).toBe(proved)
    },
  )

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
      const code = wrongCode(codeIn((await f.mailsTo(address))[0]))
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
  expect((await submit(sent, { code: '00000000' })).status).toBe(200)
  const lifetimes = [...longest.values()]
  expect(lifetimes.length).toBeGreaterThan(2)
  expect(Math.max(...lifetimes)).toBeLessThanOrEqual(1_209_600)
})
