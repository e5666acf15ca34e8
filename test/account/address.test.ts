// Users prove and change their mail addresses on the account page.
import { describe, expect, test } from 'vitest'
import { hiddenFields as fieldsOf } from '../authorization/browser.ts'
import { addressUri, codeIn, codeUri, setUpAddress, wrongCode } from './addresses.ts'
import { accountUri, setUpAccount } from './parties.ts'

describe('the mail address', () => {
  test('20.72 changes after the code of a mail, and the former address is informed', async () => {
    const { signedIn, send, users, mailsTo, ask, events } = await setUpAddress()
    const { browser, page } = await signedIn()
    expect(page.html).toContain('alice@example.com')
    const asked = await ask(browser, 'new@example.com')
    expect([asked.status, asked.html.includes('We have sent a mail to new@example.com')]).toEqual([200, true])
    expect(users.get('alice')).toMatchObject({ email: 'alice@example.com', emailVerified: true })
    const [mail] = await mailsTo('new@example.com')
    expect(mail?.html).toContain(codeIn(mail).replace(/^.{4}/u, '$& '))
    const done = await browser.submit(codeUri, { ...fieldsOf(asked), code: codeIn(mail) })
    expect([done.status, done.html.includes('Your email address was changed')]).toEqual([200, true])
    expect(users.get('alice')).toMatchObject({ username: 'alice', email: 'new@example.com', emailVerified: true })
    expect((await mailsTo('alice@example.com')).map(({ text }) => text)).toEqual([
      expect.stringContaining('Your email address was changed'),
    ])
    expect(await mailsTo('new@example.com')).toHaveLength(2)
    expect(events).toContainEqual(expect.objectContaining({ type: 'mail_requested', purpose: 'address' }))
    expect(events).toContainEqual(expect.objectContaining({ type: 'account_changed', change: 'address_changed' }))
    expect(JSON.stringify(events)).not.toContain('@example.com')
    // The code is used up.
    expect((await send(browser, asked, { code: codeIn(mail) })).html).not.toContain('id="code"')
  })

  test('20.72 is proved without a change, for a user who has one that was never proved', async () => {
    const { signedIn, users, ask, mailsTo, enter } = await setUpAddress({ emailVerified: false })
    const { browser, page } = await signedIn()
    expect([page.html.includes('Not confirmed'), page.html.includes('Confirm the address')]).toEqual([true, true])
    expect((await browser.open(addressUri)).html).toContain('value="alice@example.com"')
    const asked = await ask(browser, 'alice@example.com')
    const [mail] = await mailsTo('alice@example.com')
    const done = await browser.submit(codeUri, { ...fieldsOf(asked), code: codeIn(mail) })
    expect(done.html).toContain('Confirmed')
    expect(users.get('alice')).toMatchObject({ email: 'alice@example.com', emailVerified: true })
    expect(await mailsTo('alice@example.com')).toHaveLength(2)
    expect(enter).toBeDefined()
  })

  test('is the name for the sign-in, too, for a user who signs in with it', async () => {
    const { browser: open, enter, users, ask, mailsTo } = await setUpAddress({ username: 'Alice@example.com' })
    const browser = open()
    await enter(browser, await browser.open(accountUri), 'alice@example.com', 'alice-password')
    const asked = await ask(browser, 'new@example.com')
    const [mail] = await mailsTo('new@example.com')
    await browser.submit(codeUri, { ...fieldsOf(asked), code: codeIn(mail) })
    expect(users.get('alice')).toMatchObject({ username: 'new@example.com', email: 'new@example.com' })
  })

  test.each([
    ['a@b', 'an address such as'],
    ['a b@example.com', 'an address such as'],
    ['a@example.com, b@example.com', 'an address such as'],
    ['a@example.com\r\nBcc: b@example.com', 'an address such as'],
    [`${'a'.repeat(250)}@example.com`, 'an address such as'],
    ['alice@example.com', 'your address already'],
  ])('refuses %j', async (address, problem) => {
    const { signedIn, ask, mails } = await setUpAddress()
    const { browser } = await signedIn()
    expect((await ask(browser, address)).html).toContain(problem)
    expect(mails).toEqual([])
  })

  test('a wrong code changes nothing, and the right one works afterwards', async () => {
    const { signedIn, users, ask, mailsTo, events } = await setUpAddress()
    const { browser } = await signedIn()
    const asked = await ask(browser, 'new@example.com')
    const code = codeIn((await mailsTo('new@example.com'))[0])
    const wrong = await browser.submit(codeUri, { ...fieldsOf(asked), code: wrongCode(code) })
    expect(wrong.html).toContain('This code is not correct')
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'mail_proof_failed', purpose: 'address', reason: 'wrong_code' }),
    )
    await browser.submit(codeUri, { ...fieldsOf(wrong), code: ` ${code.slice(0, 3)} ${code.slice(3)}` })
    expect(users.get('alice')?.email).toBe('new@example.com')
  })

  test('a code counts for 15 minutes, also after another sign-in in the session', async () => {
    const { signedIn, users, ask, mailsTo, clock, enter } = await setUpAddress()
    const { browser } = await signedIn()
    const asked = await ask(browser, 'new@example.com')
    const code = codeIn((await mailsTo('new@example.com'))[0])
    clock.advance(600)
    const wrong = wrongCode(code)
    // The form is kept during the sign-in.
    const kept = await enter(browser, await browser.submit(codeUri, { ...fieldsOf(asked), code: wrong }))
    const again = await browser.submit(codeUri, fieldsOf(kept))
    expect([again.url.href, again.html.includes('This code is not correct')]).toEqual([codeUri, true])
    clock.advance(299)
    await browser.submit(codeUri, { ...fieldsOf(again), code })
    expect(users.get('alice')?.email).toBe('new@example.com')

    const next = await ask(browser, 'other@example.com')
    clock.advance(900)
    await enter(browser, await browser.open(codeUri))
    expect((await browser.open(codeUri)).url.href).toBe(accountUri)
    expect(fieldsOf(next)).toBeDefined()
  })

  test('a newer mail replaces the one before', async () => {
    const { signedIn, users, ask, mailsTo } = await setUpAddress()
    const { browser } = await signedIn()
    await ask(browser, 'first@example.com')
    const second = await ask(browser, 'second@example.com')
    const [first] = await mailsTo('first@example.com')
    const code = codeIn((await mailsTo('second@example.com'))[0])
    if (codeIn(first) !== code) await browser.submit(codeUri, { ...fieldsOf(second), code: codeIn(first) })
    expect(users.get('alice')?.email).toBe('alice@example.com')
    await browser.submit(codeUri, { ...fieldsOf(second), code })
    expect(users.get('alice')?.email).toBe('second@example.com')
  })

  test('a change undoes nothing that was changed since the mail', async () => {
    const { signedIn, users, ask, mailsTo } = await setUpAddress()
    const { browser } = await signedIn()
    const asked = await ask(browser, 'new@example.com')
    const account = users.get('alice')
    if (account !== undefined) users.set('alice', { ...account, email: 'by-operator@example.com' })
    const done = await browser.submit(codeUri, {
      ...fieldsOf(asked),
      code: codeIn((await mailsTo('new@example.com'))[0]),
    })
    expect(done.html).toContain('That no longer exists')
    expect(users.get('alice')?.email).toBe('by-operator@example.com')
  })

  test('does not exist without accounts or a mailer', async () => {
    for (const account of [{}, { accounts: (await setUpAddress()).store }]) {
      const { signedIn } = await setUpAccount({ account })
      const { browser, page } = await signedIn()
      expect(page.html).not.toContain('id="own-address"')
      expect((await browser.open(addressUri)).url.href).toBe(accountUri)
      expect((await browser.open(codeUri)).url.href).toBe(accountUri)
    }
  })
})
