/**
 * Attack: a stranger creates an account with the address of another person, and waits until that person confirms it or signs
 * in by other means; creates the same account twice at the same moment; takes over an account by an address that is not
 * verified, was given to another person, or is another spelling of the address of the account.
 *
 * Pre-hijacked accounts (Sudhodanan and Paverd, 2022).
 */
import { describe, expect, test } from 'vitest'
import { createBrowser, hiddenFields } from '../authorization/browser.ts'
import { codeIn, linkIn, memoryAccounts, setUpAccounts, titleOf } from '../self-service/parties.ts'

const password = 'correct horse battery'
const address = 'carol@example.com'

describe('a new account', () => {
  test('19.6 does not exist, and has no password of a stranger, before its address is proved', async () => {
    const f = await setUpAccounts({ signUp: 'open' })
    const stranger = await f.start()
    const sent = await stranger.ask('create', address)
    await stranger.submit(sent, { password: 'password of the stranger', code: '00000000' })
    expect([...f.memory.users.keys()]).toEqual(['alice'])
    // The owner opens the mail that the stranger has caused, then signs up.
    const owner = await f.start()
    expect(titleOf(await owner.browser.open(linkIn(await f.lastMail())))).toBe('This link does not work here')
    await owner.ask('create', address)
    await owner.submit(await owner.browser.open(linkIn(await f.lastMail())), { password })
    expect(f.memory.users.get('new-1')).toMatchObject({
      username: address,
      email: address,
      emailVerified: true,
      password,
    })
    // What the stranger still has leads nowhere.
    const late = await stranger.submit(sent, { code: codeIn({ text: f.mails[0]?.text ?? '' }) })
    await stranger.submit(late, { password: 'password of the stranger' })
    expect(f.memory.users.size).toBe(2)
    expect(f.memory.users.get('new-1')?.password).toBe(password)
  })

  test('is created once if two browsers prove the same address at the same moment', async () => {
    const f = await setUpAccounts({ signUp: 'open' })
    const proved = await Promise.all(
      [1, 2].map(async (host) => {
        const { ask, browser } = await f.start({}, createBrowser(f.provider, `198.51.100.${host}`))
        const sent = await ask('create', host === 1 ? address : 'Carol@example.com')
        return { browser, sent }
      }),
    )
    const mails = await f.arrived()
    const pages = await Promise.all(
      proved.map(async ({ browser }) => {
        const opened = await Promise.all(mails.map((mail) => browser.open(linkIn(mail))))
        const page = opened.find((candidate) => titleOf(candidate) === 'Create an account')
        return { browser, page }
      }),
    )
    const ends = await Promise.all(
      pages.map(({ browser, page }) =>
        browser.submit(`${f.provider.issuer}/connect/mailed`, { ...(page && hiddenFields(page)), password }),
      ),
    )
    expect(ends.map((end) => end.html.includes('Signed in as')).sort()).toEqual([false, true])
    expect(f.memory.users.size).toBe(2)
  })

  test('cannot be created by a form that was kept from the time when sign-up was open', async () => {
    const f = await setUpAccounts({ signUp: 'closed' })
    const { page, browser } = await f.start()
    expect(page.html).not.toContain('Create account')
    const url = new URL(`${f.provider.issuer}/connect/mail`)
    url.searchParams.set('interaction', hiddenFields(page).interaction ?? '')
    url.searchParams.set('for', 'sign_up')
    expect((await browser.open(url.href)).status).toBe(400)
    expect(await f.arrived()).toEqual([])
  })
})

describe('an account', () => {
  test('cannot be recovered by an address that is not verified, or was given to another person', async () => {
    const memory = memoryAccounts([
      { sub: 'bob', username: 'bob', email: 'bob@example.com', emailVerified: false, password: 'bob-password' },
    ])
    const f = await setUpAccounts({ store: memory.store, mail: 'both' })
    for (const link of ['forgot', 'by-mail']) await (await f.start()).ask(link, 'bob@example.com')
    expect(await f.arrived()).toEqual([])
    // The address changes after the mail: what was proved then is of no use.
    await memory.store.change('bob', { emailVerified: true })
    const { ask, browser, submit } = await f.start()
    await ask('forgot', 'bob@example.com')
    const page = await browser.open(linkIn(await f.lastMail()))
    await memory.store.change('bob', { email: 'bob@new.example' })
    expect(titleOf(await submit(page, { password }))).toBe('This link does not work here')
    expect(memory.users.get('bob')?.password).toBe('bob-password')
  })

  test('19.10 gets its mails at its own address, not at another spelling that leads to it', async () => {
    const f = await setUpAccounts()
    // A fullwidth letter, and capitals: the same for a comparison, and another mailbox.
    for (const spelling of ['ａlice@example.com', 'ALICE@example.com']) await (await f.start()).ask('forgot', spelling)
    expect((await f.arrived()).map(({ to }) => to)).toEqual(['alice@example.com', 'alice@example.com'])
  })
})
