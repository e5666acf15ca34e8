import { decodeJwt, isSameAddress } from '@grantry/core'
import { signIn } from '@grantry/plugins/sign-in'
import { describe, expect, test } from 'vitest'
import { answer } from '../authorization/browser.ts'
import { setUp } from '../authorization/parties.ts'
import { aliceAccount, codeIn, linkIn, pages, problemOf, setUpAccounts, titleOf } from './parties.ts'

const password = 'correct horse battery'

describe('a forgotten password', () => {
  test('is replaced with the link of a mail, and the request continues', async () => {
    const f = await setUpAccounts()
    const { ask, browser, submit } = await f.start()
    const sent = await ask('forgot', 'Alice@Example.com')
    expect(titleOf(sent)).toBe('Check your email')
    const mail = await f.lastMail()
    expect(mail).toMatchObject({ to: 'alice@example.com', subject: 'Choose a new password' })
    const page = await browser.open(linkIn(mail))
    expect(titleOf(page)).toBe('Choose a new password')
    const consent = await submit(page, { password })
    expect(consent.html).toContain('Signed in as alice')
    const done = await submit(consent, { decision: 'allow' })
    const { body } = await f.redeem(answer(done).code)
    expect(decodeJwt(body.id_token)?.claims).toMatchObject({ sub: 'alice', amr: ['email'] })
    expect(f.memory.users.get('alice')?.password).toBe(password)
    // Before the hash, before the change, and after it.
    expect(f.revoked()).toEqual(['alice', 'alice', 'alice'])
    expect(await f.lastMail()).toMatchObject({ to: 'alice@example.com', subject: 'Your password was changed' })
    const types = f.events.map(({ type }) => type)
    expect(types).toEqual(expect.arrayContaining(['mail_requested', 'password_changed', 'session_started']))
  })

  test.each([
    ' Alice@example.com',
    'Alice@example.com ',
    '\u202aAlice@example.com\u202c',
    'Alice@example.com\u200b\r\n',
  ])('is replaced also if the store has the address as it was pasted: %j', async (email) => {
    const f = await setUpAccounts()
    f.memory.users.set('alice', { ...aliceAccount, email, claims: {} })
    f.memory.store.findByEmail = (asked) => (isSameAddress(asked, email) ? f.memory.users.get('alice') : undefined)
    const { ask, browser, submit } = await f.start()
    await ask('forgot', 'alice@example.com')
    const mail = await f.lastMail()
    // In the case in which it is stored, which may count.
    expect(mail.to).toBe('Alice@example.com')
    await submit(await browser.open(linkIn(mail)), { password })
    expect(await f.lastMail()).toMatchObject({ to: 'Alice@example.com', subject: 'Your password was changed' })
  })

  test('is replaced with the code of a mail', async () => {
    const f = await setUpAccounts()
    const { ask, submit } = await f.start()
    const sent = await ask('forgot', 'alice@example.com')
    const page = await submit(sent, { code: codeIn(await f.lastMail()) })
    expect(titleOf(page)).toBe('Choose a new password')
    expect((await submit(page, { password })).html).toContain('Signed in as alice')
  })

  test('cannot be tried without end with one mail: names and passwords are checked elsewhere, too', async () => {
    const f = await setUpAccounts()
    const { ask, submit } = await f.start()
    let page = await submit(await ask('forgot', 'alice@example.com'), { code: codeIn(await f.lastMail()) })
    for (let tries = 1; tries <= 20; tries += 1) page = await submit(page, { password: 'short' })
    expect(problemOf(page)).toContain('at least')
    expect(problemOf(await submit(page, { password: 'short' }))).toContain('too many')
    // Nor is a password accepted then.
    expect(titleOf(await submit(page, { password }))).toBe('Choose a new password')
    expect(f.memory.users.get('alice')?.password).toBe(aliceAccount.password)
  })

  test('is asked for again until it follows the rules, and the link still counts', async () => {
    const f = await setUpAccounts({ passwords: { isCommon: (text) => text === 'common-password' } })
    const { ask, browser, submit } = await f.start()
    await ask('forgot', 'alice@example.com')
    let page = await browser.open(linkIn(await f.lastMail()))
    for (const [wrong, problem] of [
      ['short', 'Choose a password with at least 12 characters.'],
      ['x'.repeat(257), 'Choose a password with at most 256 characters.'],
      ['alice-alice-123', 'Choose a password that is not your name, your address or the name of this service.'],
      ['common-password', 'This password is one of those that attackers try first. Choose another one.'],
      ['twelve\ncharacters', 'Choose a password without line breaks and control characters.'],
    ] as const) {
      page = await submit(page, { password: wrong })
      expect(problemOf(page)).toBe(problem)
    }
    expect((await submit(page, { password })).html).toContain('Signed in as alice')
  })

  test.each([undefined, 'taken'] as const)(
    'asks for another mail if the account was changed meanwhile (%s)',
    async (outcome) => {
      const f = await setUpAccounts()
      const { ask, browser, submit } = await f.start()
      await ask('forgot', 'alice@example.com')
      const { change } = f.memory.store
      f.memory.store.change = () => outcome
      const refused = await submit(await browser.open(linkIn(await f.lastMail())), { password })
      expect(problemOf(refused)).toContain('changed at the same time')
      expect(f.memory.users.get('alice')?.password).toBe(aliceAccount.password)
      f.memory.store.change = change
      await submit(refused, { address: 'alice@example.com' })
      const done = await submit(await browser.open(linkIn(await f.lastMail())), { password })
      expect(done.html).toContain('Signed in as alice')
    },
  )

  test('19.7 ends the sessions at its own provider, if another one shares the accounts', async () => {
    const ended: string[] = []
    const onSessionEnd = async (_kit: unknown, { sid }: { readonly sid: string }) => {
      ended.push(sid)
      return undefined
    }
    const f = await setUpAccounts({}, { endpoint: { features: [{ onSessionEnd, parts: () => [] }] } })
    // Created later, with sessions that have no such feature.
    await setUp(signIn({ pages, ways: [f.way] }), {}, { users: { authenticate: f.memory.authenticate } })
    const signedIn = await f.start()
    await signedIn.submit(signedIn.page, { username: 'alice', password: 'alice-password' })
    const { ask, browser, submit } = await f.start()
    await ask('forgot', 'alice@example.com')
    await submit(await browser.open(linkIn(await f.lastMail())), { password })
    expect(ended).toHaveLength(1)
  })

  test('19.7 ends the sessions of the user in other browsers', async () => {
    const f = await setUpAccounts()
    const otherBrowser = await f.start()
    await otherBrowser.submit(otherBrowser.page, { username: 'alice', password: 'alice-password' })
    expect((await f.start({}, otherBrowser.browser)).page.html).toContain('Signed in as alice')
    const { ask, browser, submit } = await f.start()
    await ask('forgot', 'alice@example.com')
    await submit(await browser.open(linkIn(await f.lastMail())), { password })
    expect(titleOf((await f.start({}, otherBrowser.browser)).page)).toBe('Sign in')
  })

  test('19.8 leaves the second factor to be proved', async () => {
    const f = await setUpAccounts(
      {},
      { signIn: { secondFactors: [{ amr: 'otp', isSetUp: () => true, verify: () => true }] } },
    )
    const { ask, browser, submit } = await f.start()
    await ask('forgot', 'alice@example.com')
    const next = await submit(await browser.open(linkIn(await f.lastMail())), { password })
    expect(next.html).toContain('one-time-code')
    expect(next.html).not.toContain('Signed in as')
  })
})
