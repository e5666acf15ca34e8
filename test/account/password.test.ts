// Users change their passwords on the account page.

import { createAccountPages } from '@grantry/pages/account'
import { accountPage } from '@grantry/plugins/account'
import type { MailMessage } from '@grantry/plugins/self-service'
import { describe, expect, test } from 'vitest'
import { aliceAccount, memoryAccounts } from '../self-service/parties.ts'
import { accountUri, setUpAccount } from './parties.ts'

const passwordUri = `${accountUri}/password`
const password = 'correct horse battery'

async function setUp(isCommon?: (text: string) => boolean | Promise<boolean>) {
  const { store, users, authenticate } = memoryAccounts([aliceAccount])
  const mails: MailMessage[] = []
  const mailer = { send: (message: MailMessage) => void mails.push(message) }
  const f = await setUpAccount({
    account: { accounts: store, mailer, passwords: { isCommon } },
    provider: { hostTimeLimit: 0.05, users: { authenticate, claims: () => ({}) } },
  })
  return { ...f, users, mails }
}

describe('the password', () => {
  test('20.50 is changed, and only this browser stays signed in', async () => {
    const { signedIn, send, users, mails, events, authorize, post, provider, browser, enter } = await setUp()
    const phone = await signedIn()
    const tokens = await authorize(phone.browser)
    const { browser: laptop } = await signedIn()
    const page = await laptop.open(passwordUri)
    expect(page.html).toContain('autocomplete="new-password"')
    const done = await send(laptop, page, { password })
    expect([done.status, done.url.href]).toEqual([200, accountUri])
    expect(done.html).toContain('id="sessions"')
    expect(users.get('alice')?.password).toBe(password)
    expect((await phone.browser.open(accountUri)).html).toContain('name="password"')
    const { refresh_token: refresh = '' } = tokens.body as { readonly refresh_token?: string }
    expect((await provider.inspect(refresh)).valid).toBe(false)
    expect(
      (await post('token', { grant_type: 'refresh_token', refresh_token: refresh }, ['web', 'web-secret'])).status,
    ).toBe(400)
    expect(mails).toMatchObject([
      { to: 'alice@example.com', text: expect.stringContaining('Your password was changed') },
    ])
    expect(events).toContainEqual(expect.objectContaining({ type: 'account_changed', change: 'password_changed' }))
    const next = browser()
    const asked = await enter(next, await next.open(accountUri))
    expect(asked.html).toContain('The user name or password is not correct')
    expect((await enter(next, asked, 'alice', password)).html).toContain('Signed in as alice<')
  })

  test('follows the rules', async () => {
    const { signedIn, send, users } = await setUp((text) => text === 'common-password')
    const { browser } = await signedIn()
    let page = await browser.open(passwordUri)
    for (const [wrong, problem] of [
      ['short', 'at least 12 characters'],
      ['x'.repeat(257), 'at most 256 characters'],
      ['alice-alice-123', 'not your name'],
      ['common-password', 'attackers try first'],
    ] as const) {
      page = await send(browser, page, { password: wrong })
      expect(page.html, wrong).toContain(problem)
    }
    expect(users.get('alice')?.password).toBe(aliceAccount.password)
    await send(browser, page, { password })
    expect(users.get('alice')?.password).toBe(password)
  })

  test('can be changed while the list of common ones does not respond', async () => {
    const { signedIn, send, users, events } = await setUp(() => new Promise(() => {}))
    const { browser } = await signedIn()
    await send(browser, await browser.open(passwordUri), { password })
    expect(users.get('alice')?.password).toBe(password)
    expect(events).toContainEqual(expect.objectContaining({ type: 'password_unchecked', by: 'account_page' }))
  })

  test('needs a recent authentication, also for the form', async () => {
    const { signedIn, send, users, clock } = await setUp()
    const { browser } = await signedIn()
    const page = await browser.open(passwordUri)
    clock.advance(301)
    expect((await send(browser, page, { password })).html).toContain('name="username"')
    expect((await browser.open(passwordUri)).url.pathname).toBe('/connect/authorize')
    expect(users.get('alice')?.password).toBe(aliceAccount.password)
  })

  test('is not changed by the form of another session, or without one', async () => {
    const { signedIn, send, users } = await setUp()
    const [laptop, phone] = [await signedIn(), await signedIn()]
    const page = await phone.browser.open(passwordUri)
    expect((await send(laptop.browser, page, { password })).html).toContain('This page has expired')
    expect((await laptop.browser.submit(passwordUri, { password })).html).toContain('This page has expired')
    expect(users.get('alice')?.password).toBe(aliceAccount.password)
  })
})

test('without an account in the store, the page of the account does not offer it', async () => {
  const { store } = memoryAccounts()
  const { signedIn } = await setUpAccount({ account: { accounts: store, mailer: { send: () => {} }, passwords: {} } })
  const { browser, page } = await signedIn()
  expect(page.html).not.toContain(passwordUri)
  expect((await browser.open(passwordUri)).url.href).toBe(accountUri)
})

test('without accounts, there is no page', async () => {
  const { signedIn } = await setUpAccount()
  const { browser, page } = await signedIn()
  expect(page.html).not.toContain(passwordUri)
  expect((await browser.open(passwordUri)).url.href).toBe(accountUri)
  expect(() => accountPage({ pages: createAccountPages(), passwords: {} })).toThrow('passwords requires accounts')
})
