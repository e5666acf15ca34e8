// Users change their claims on the account page.
import { createAccountPages } from '@grantry/pages/account'
import { type AccountPageOptions, accountPage } from '@grantry/plugins/account'
import type { MailMessage } from '@grantry/plugins/self-service'
import { describe, expect, test } from 'vitest'
import { aliceAccount, memoryAccounts } from '../self-service/parties.ts'
import { accountUri, setUpAccount } from './parties.ts'

const profileUri = `${accountUri}/profile`

async function setUp(account: Partial<AccountPageOptions> = {}) {
  const claims = { name: 'Alice', roles: ['user'], locale: 'en' }
  const { store, users, authenticate } = memoryAccounts([{ ...aliceAccount, claims }])
  const mails: MailMessage[] = []
  const mailer = { send: (message: MailMessage) => void mails.push(message) }
  const f = await setUpAccount({
    account: { accounts: store, mailer, ...account },
    provider: { users: { authenticate, claims: (sub) => ({ ...users.get(sub)?.claims }) } },
  })
  return { ...f, store, users, mails, claimsOf: () => users.get('alice')?.claims }
}

describe('the profile', () => {
  test('20.71 is shown and changed, with a mail and an event', async () => {
    const { signedIn, send, claimsOf, mails, events } = await setUp()
    const { browser, page: overview } = await signedIn()
    expect(overview.html).toContain('<bdi>Alice</bdi>')
    const page = await browser.open(profileUri)
    expect(page.html).toContain('value="Alice"')
    const done = await send(browser, page, { name: ' Alice  Liddell ', given_name: 'Alice', locale: 'pt-br' })
    expect([done.status, done.html.includes('Your profile was changed')]).toEqual([200, true])
    expect(done.html).toContain('<bdi>Alice  Liddell</bdi>')
    expect(claimsOf()).toEqual({ name: 'Alice  Liddell', given_name: 'Alice', locale: 'pt-BR', roles: ['user'] })
    expect(mails).toMatchObject([
      { to: 'alice@example.com', text: expect.stringContaining('Your profile was changed') },
    ])
    expect(mails[0]?.text).not.toContain('Liddell')
    expect(events).toContainEqual(expect.objectContaining({ type: 'account_changed', change: 'profile_changed' }))
  })

  test('an empty field removes the claim, and what is absent stays', async () => {
    const { signedIn, send, claimsOf } = await setUp()
    const { browser } = await signedIn()
    await send(browser, await browser.open(profileUri), { name: ' ' })
    expect(claimsOf()).toEqual({ locale: 'en', roles: ['user'] })
  })

  test('without a difference, nothing is reported', async () => {
    const { signedIn, send, mails, events } = await setUp()
    const { browser } = await signedIn()
    expect((await send(browser, await browser.open(profileUri), { name: 'Alice' })).url.href).toBe(accountUri)
    expect([mails, events.filter(({ type }) => type === 'account_changed')]).toEqual([[], []])
  })

  test.each([
    ['name', 'x'.repeat(201), 'at most 200 characters'],
    ['name', 'a\u0000b', 'at most 200 characters'],
    ['name', '\u{1F600}'.repeat(201), 'at most 200 characters'],
    ['name', 'x'.repeat(50_000), 'at most 200 characters'],
    ['website', 'javascript:alert(1)', 'starts with https'],
    ['website', 'https://', 'starts with https'],
    ['website', 'https://a.example/" onclick="x', 'starts with https'],
    ['picture', 'http://a.example/', 'starts with https'],
    ['birthdate', '1990-02-30', 'a date such as'],
    ['birthdate', '0000', 'a date such as'],
    ['zoneinfo', 'Europe/Nowhere', 'a time zone such as'],
    ['zoneinfo', '+01:00', 'a time zone such as'],
    ['locale', 'not a language', 'a language such as'],
  ] as const)('refuses %s: %s', async (claim, value, problem) => {
    const { signedIn, send, claimsOf, mails } = await setUp({
      profile: ['name', 'website', 'picture', 'birthdate', 'zoneinfo', 'locale'],
    })
    const { browser } = await signedIn()
    const refused = await send(browser, await browser.open(profileUri), { [claim]: value })
    expect(refused.html).toContain(problem)
    expect(refused.html).toContain(`aria-describedby="claim-${claim}-problem"`)
    expect([claimsOf(), mails]).toEqual([{ name: 'Alice', roles: ['user'], locale: 'en' }, []])
    // The form of this page works.
    await send(browser, refused, { [claim]: '', name: 'Bob' })
    expect(claimsOf()).toMatchObject({ name: 'Bob' })
  })

  test.each([
    ['birthdate', '0000-02-29'],
    ['birthdate', '1990'],
    ['website', 'https://alice.example/?a=b#c'],
    ['zoneinfo', 'Europe/Berlin'],
  ] as const)('accepts %s: %s', async (claim, value) => {
    const { signedIn, send, claimsOf } = await setUp({ profile: [claim] })
    const { browser } = await signedIn()
    await send(browser, await browser.open(profileUri), { [claim]: value })
    expect(claimsOf()).toMatchObject({ [claim]: value })
  })

  // Address books and chats put these around names; a text that is pasted from two lines is one.
  test.each([
    [
      '\u2068\u0645\u062D\u0645\u062F \u0639\u0644\u06CC\u200C\u0631\u0636\u0627\u2069',
      '\u0645\u062D\u0645\u062F \u0639\u0644\u06CC\u200C\u0631\u0636\u0627',
    ],
    ['\u202BAnn\u202C Lee', 'Ann Lee'],
    ['a\u202Eb', 'ab'],
    ['Ann\r\nLee', 'Ann Lee'],
    ['Ann\tLee\u2028Jr', 'Ann Lee Jr'],
    ['\uFEFF\u200B Ann\u200B ', 'Ann'],
    ['\u{1F600}'.repeat(200), '\u{1F600}'.repeat(200)],
    ['\u202A\u202C', undefined],
  ])('takes what a user has pasted: %j', async (pasted, name) => {
    const { signedIn, send, claimsOf } = await setUp()
    const { browser } = await signedIn()
    const done = await send(browser, await browser.open(profileUri), { name: pasted })
    expect(done.html).toContain('Your profile was changed')
    expect(claimsOf()?.name).toBe(name)
  })

  test('leaves another value than a text to the operator', async () => {
    const { signedIn, users } = await setUp()
    users.set('alice', { ...aliceAccount, claims: { name: { first: 'Alice' } } })
    const { browser } = await signedIn()
    expect((await browser.open(profileUri)).html).not.toContain('name="name"')
  })

  test('has only claims that the store can store', async () => {
    const { store } = memoryAccounts([aliceAccount])
    const { signedIn } = await setUp({ accounts: { ...store, claimNames: ['locale'] } })
    const { browser } = await signedIn()
    const { html } = await browser.open(profileUri)
    expect([html.includes('name="locale"'), html.includes('name="nickname"')]).toEqual([true, false])
  })

  test('does not exist with an empty list, or without accounts', async () => {
    const empty = await (await setUp({ profile: [] })).signedIn()
    expect((await empty.browser.open(profileUri)).url.href).toBe(accountUri)
    const none = await (await setUpAccount()).signedIn()
    expect(none.page.html).not.toContain('id="profile"')
    expect((await none.browser.open(profileUri)).url.href).toBe(accountUri)
    expect(() => accountPage({ pages: createAccountPages(), profile: ['name'] })).toThrow('profile requires accounts')
  })

  test('cannot have a claim that gives rights', async () => {
    const { store } = memoryAccounts()
    for (const claim of ['roles', 'groups', 'sub', 'email', 'email_verified', 'preferred_username', 'phone_number']) {
      const options = { pages: createAccountPages(), accounts: store, profile: [claim] }
      expect(() => accountPage(options as never), claim).toThrow('profile')
    }
  })

  test('the rest of the page works while the store does not', async () => {
    const { store } = memoryAccounts([aliceAccount])
    const find = () => Promise.reject(new Error('down'))
    const { signedIn } = await setUp({ accounts: { ...store, find } })
    const { page } = await signedIn()
    expect([page.html.includes('id="sessions"'), page.html.includes('id="profile"')]).toEqual([true, false])
  })
})
