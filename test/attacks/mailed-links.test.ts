/**
 * Attack: a program that checks the links of mails opens them, also with scripts, and so uses them up or signs in; someone
 * who reads a forwarded mail opens the link; a link is used twice, or 200 times at the same moment by several processes; a
 * stranger sends a user a link that ends in the account of the stranger.
 */
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { describe, expect, test } from 'vitest'
import { hiddenFields } from '../authorization/browser.ts'
import { linkIn, setUpAccounts, titleOf } from '../self-service/parties.ts'
import { withLatency } from '../support/latency.ts'

const password = 'correct horse battery'
const elsewhere = 'This link does not work here'

describe('a mailed link', () => {
  test('19.3 is not used up by programs that open it, with and without the cookies of the browser', async () => {
    const f = await setUpAccounts()
    const { ask, browser, submit } = await f.start()
    await ask('forgot', 'alice@example.com')
    const link = linkIn(await f.lastMail())
    for (let count = 0; count < 20; count += 1) {
      expect(titleOf(await f.browser().open(link))).toBe(elsewhere)
      expect((await f.provider.fetch(new Request(link, { method: 'HEAD' }))).headers.getSetCookie()).toEqual([])
      await browser.open(link)
    }
    expect(f.memory.users.get('alice')?.password).toBe('alice-password')
    const page = await browser.open(link)
    expect(page.headers.get('referrer-policy')).toBe('no-referrer')
    expect(page.headers.get('cache-control')).toContain('no-store')
    // Without a script that would send the form for them: the button is the only way on.
    expect(page.html).not.toMatch(/\.submit\(\)|requestSubmit/u)
    expect((await submit(page, { password })).html).toContain('Signed in as alice')
  })

  test('19.2 serves no other browser, also with its own request, and stays for its own', async () => {
    const f = await setUpAccounts()
    const { ask, browser } = await f.start()
    await ask('forgot', 'alice@example.com')
    const link = linkIn(await f.lastMail())
    const thief = await f.start()
    await thief.ask('forgot', 'alice@example.com')
    expect(titleOf(await thief.browser.open(link))).toBe(elsewhere)
    const thiefsUrl = new URL((await thief.follow('forgot')).url)
    const mixed = new URL(link)
    mixed.searchParams.set('interaction', thiefsUrl.searchParams.get('interaction') ?? '')
    expect(titleOf(await thief.browser.open(mixed.href))).toBe(elsewhere)
    expect(titleOf(await browser.open(link))).toBe('Choose a new password')
  })

  test('and its page are refused with the form of another browser, or of another purpose', async () => {
    const f = await setUpAccounts({ mail: 'both' })
    const { ask, browser } = await f.start()
    await ask('forgot', 'alice@example.com')
    const page = await browser.open(linkIn(await f.lastMail()))
    const fields: Record<string, string> = { ...hiddenFields(page), password }
    const url = `${f.provider.issuer}/connect/mailed`
    expect(titleOf(await f.browser().submit(url, fields))).toBe(elsewhere)
    expect(titleOf(await browser.submit(url, { ...fields, for: 'sign_in' }))).toBe(elsewhere)
    const { proof: _, ...without } = fields
    expect(titleOf(await browser.submit(url, without))).toBe('Check your email')
    expect(f.memory.users.get('alice')?.password).toBe('alice-password')
  })

  test('counts once, and ends when a later one is sent to the same browser', async () => {
    const f = await setUpAccounts()
    const { ask, browser, submit } = await f.start()
    await ask('forgot', 'alice@example.com')
    const first = linkIn(await f.lastMail())
    await ask('forgot', 'alice@example.com')
    const second = linkIn(await f.lastMail())
    expect(titleOf(await browser.open(first))).toBe(elsewhere)
    const page = await browser.open(second)
    await submit(page, { password })
    expect(titleOf(await browser.open(second))).toBe(elsewhere)
    await submit(page, { password: 'another correct horse' })
    expect(f.memory.users.get('alice')?.password).toBe(password)
  })

  test('19.2 ends after 15 minutes, and with a new password that was set elsewhere', async () => {
    const f = await setUpAccounts()
    const late = await f.start()
    await late.ask('forgot', 'alice@example.com')
    const link = linkIn(await f.lastMail())
    f.clock.advance(900)
    expect(titleOf(await late.browser.open(link))).toBe(elsewhere)
    const [earlier, later] = [await f.start(), await f.start()]
    await earlier.ask('forgot', 'alice@example.com')
    const outdated = linkIn(await f.lastMail())
    await later.ask('forgot', 'alice@example.com')
    await later.submit(await later.browser.open(linkIn(await f.lastMail())), { password })
    expect(titleOf(await earlier.browser.open(outdated))).toBe(elsewhere)
  })

  test('19.3 is used once by 200 requests at the same moment, under latency', async () => {
    const f = await setUpAccounts({}, { provider: { storage: withLatency(memoryDriver()) } })
    const { ask, browser } = await f.start()
    await ask('forgot', 'alice@example.com')
    const page = await browser.open(linkIn(await f.lastMail()))
    const url = `${f.provider.issuer}/connect/mailed`
    const all = await Promise.all(
      Array.from({ length: 200 }, (_, index) =>
        browser.submit(url, { ...hiddenFields(page), password: `${password} ${index}` }),
      ),
    )
    expect(all.filter(({ html }) => html.includes('Signed in as alice'))).toHaveLength(1)
    expect(f.events.filter(({ type }) => type === 'password_changed')).toHaveLength(1)
    // Before the hash, before the change, and after it.
    expect(f.revoked()).toEqual(['alice', 'alice', 'alice'])
  })
})
