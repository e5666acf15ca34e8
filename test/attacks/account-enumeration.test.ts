/**
 * Attack: a stranger enters addresses on the pages for a forgotten password, a sign-in by mail and a new account, and learns
 * from the text, the status, the header fields or the work which of them have an account; or floods a mailbox.
 *
 * OWASP Forgot Password Cheat Sheet; NIST SP 800-63B-4 section 3.2.2.
 */
import type { AtomicDriver } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { describe, expect, test } from 'vitest'
import { createBrowser, type Page } from '../authorization/browser.ts'
import { problemOf, setUpAccounts, titleOf } from '../self-service/parties.ts'

/** A driver that notes the operations. */
function noted(trips: string[]): AtomicDriver {
  const driver = memoryDriver()
  const known = new Map<PropertyKey, unknown>()
  return new Proxy(driver, {
    get(target, name) {
      const value = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      const wrapped =
        known.get(name) ??
        ((...args: readonly unknown[]) => {
          trips.push(String(name))
          return Reflect.apply(value, target, args)
        })
      known.set(name, wrapped)
      return wrapped
    },
  })
}

/** A page without the values that differ in each response. */
const comparable = ({ status, html, headers }: Page, address: string) => ({
  status,
  html: html.replaceAll(/value="[^"]+"|interaction=[\w-]+/gu, '').replaceAll(address, 'ADDRESS'),
  headers: [...headers].map(([name, value]) => [name, value.replaceAll(/\d+/gu, '')]).sort(),
})

const known = 'alice@example.com'
const unknown = 'carol@example.com'

describe.each([['forgot'], ['by-mail'], ['create']])('the page behind the link %s', (link) => {
  test('19.1 has the same response for an address with an account and without one, and for the same work', async () => {
    const trips: string[] = []
    const f = await setUpAccounts({ signUp: 'open', mail: 'both' }, { provider: { storage: noted(trips) } })
    const observe = async (address: string) => {
      const { follow, submit } = await f.start()
      const page = await follow(link)
      trips.length = 0
      f.memory.calls.length = 0
      const sent = await submit(page, { address })
      return { ...comparable(sent, address), trips: [...trips], calls: [...f.memory.calls] }
    }
    const first = await observe(known)
    expect(first.status).toBe(200)
    expect(await observe(unknown)).toEqual(first)
  })

  test('has the same response after a code, and after too many', async () => {
    const f = await setUpAccounts({ signUp: 'open', mail: 'both' })
    const responses = async (address: string) => {
      const { ask, submit } = await f.start()
      let page = await ask(link, address)
      const seen: unknown[] = []
      for (let guess = 0; guess < 12; guess += 1) {
        page = await submit(page, { code: '00000000' })
        seen.push(comparable(page, address))
      }
      return seen
    }
    expect(await responses(unknown)).toEqual(await responses(known))
  })

  test('has the same limits for both', async () => {
    const f = await setUpAccounts({ signUp: 'open', mail: 'both', limits: { perAddress: 2 } })
    const statuses = async (address: string) => {
      const seen: number[] = []
      for (let count = 0; count < 4; count += 1) seen.push((await (await f.start()).ask(link, address)).status)
      return seen
    }
    expect(await statuses(known)).toEqual([200, 200, 429, 429])
    expect(await statuses(unknown)).toEqual([200, 200, 429, 429])
  })
})

describe('mails', () => {
  test('are as many for a sign-up with a known address as with an unknown one, and none for others', async () => {
    const f = await setUpAccounts({ signUp: 'open', mail: 'both' })
    for (const address of [known, unknown]) await (await f.start()).ask('create', address)
    for (const link of ['forgot', 'by-mail']) await (await f.start()).ask(link, unknown)
    expect((await f.arrived()).map(({ to, subject }) => [to, subject]).sort()).toEqual([
      [known, 'You already have an account'],
      [unknown, 'Confirm your email address'],
    ])
  })

  test('19.5 are limited for an address in any spelling, with other browsers, networks and purposes', async () => {
    const f = await setUpAccounts({ signUp: 'open', mail: 'both', limits: { perAddress: 3 } })
    const from = (host: number) => f.start({}, createBrowser(f.provider, `198.51.100.${host}`))
    const spellings = ['alice@example.com', 'ALICE@example.com', ' Alice@Example.COM ', 'alice@example.com']
    const pages: Page[] = []
    for (const [host, address] of spellings.entries()) {
      pages.push(await (await from(host)).ask(host % 2 === 0 ? 'forgot' : 'by-mail', address))
    }
    expect(pages.map(({ status }) => status)).toEqual([200, 200, 200, 429])
    expect(Number(pages[3]?.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(problemOf(pages[3] as Page)).toContain('There were too many attempts')
    expect(await f.arrived()).toHaveLength(3)
  })

  test('are limited for a network, which does not use up those of others', async () => {
    const f = await setUpAccounts({ limits: { perNetwork: 2, total: 4 } })
    const ask = async (host: number, address: string) =>
      (await (await f.start({}, createBrowser(f.provider, `198.51.100.${host}`))).ask('forgot', address)).status
    const flood: number[] = []
    for (let count = 0; count < 6; count += 1) flood.push(await ask(1, `user${count}@example.com`))
    expect(flood).toEqual([200, 200, 429, 429, 429, 429])
    expect(await ask(2, known)).toBe(200)
  })

  test('that fail change nothing in the response', async () => {
    const failing = { send: () => Promise.reject(new Error('no')) }
    const f = await setUpAccounts({ mailer: failing })
    expect(titleOf(await (await f.start()).ask('forgot', known))).toBe('Check your email')
    for (let run = 0; run < 4; run += 1) await f.provider.runTasks()
    expect(f.events.filter(({ type }) => type === 'mail_failed')).toHaveLength(1)
    expect(JSON.stringify(f.events)).not.toContain(known)
  })
})
