/**
 * Attack: a stranger uses what one page of a mailed link or code has given, at another one: the form of another purpose
 * or of another request, and the code of a mail to sign in for a new password.
 */
import { describe, expect, test } from 'vitest'
import { hiddenFields } from '../authorization/browser.ts'
import { codeIn, linkIn, problemOf, setUpAccounts, titleOf } from '../self-service/parties.ts'

const password = 'correct horse battery'
const address = 'alice@example.com'
const elsewhere = 'This link does not work here'

async function ready() {
  const f = await setUpAccounts({ mail: 'both', signUp: 'open' })
  const { issuer } = f.provider
  return { ...f, mailUrl: `${issuer}/connect/mail`, proofUrl: `${issuer}/connect/mailed` }
}

describe('a form', () => {
  test.each(['forgot', 'by-mail', 'create'])('of the page %s asks for no mail of another purpose', async (link) => {
    const f = await ready()
    const { browser, follow } = await f.start()
    const fields = hiddenFields(await follow(link))
    const purposes = ['recovery', 'sign_in', 'sign_up'].filter((purpose) => purpose !== fields.for)
    for (const purpose of purposes) {
      const page = await browser.submit(f.mailUrl, { ...fields, for: purpose, address })
      expect(problemOf(page)).toContain('This page has expired')
    }
    expect(await f.arrived()).toEqual([])
  })

  test('asks for no mail of another request of the same browser', async () => {
    const f = await ready()
    const first = await f.start()
    const second = await f.start({}, first.browser)
    const fields = hiddenFields(await first.follow('forgot'))
    const { interaction = '' } = hiddenFields(await second.follow('forgot'))
    expect(interaction).not.toBe(fields.interaction)
    const page = await first.browser.submit(f.mailUrl, { ...fields, interaction, address })
    expect(problemOf(page)).toContain('This page has expired')
    expect(await f.arrived()).toEqual([])
  })

  test('enters no code in another request of the same browser', async () => {
    const f = await ready()
    const first = await f.start()
    const second = await f.start({}, first.browser)
    const sent = await first.ask('forgot', address)
    const code = codeIn(await f.lastMail())
    const { interaction = '' } = hiddenFields(await second.follow('forgot'))
    const refused = await first.browser.submit(f.proofUrl, { ...hiddenFields(sent), interaction, code })
    expect(titleOf(refused)).toBe(elsewhere)
    expect(titleOf(await first.submit(sent, { code }))).toBe('Choose a new password')
  })
})

describe('the code and the link of a mail to sign in', () => {
  test('choose no new password', async () => {
    const f = await ready()
    const { ask, follow, browser } = await f.start()
    const form = hiddenFields(await follow('forgot'))
    await ask('by-mail', address)
    const mail = await f.lastMail()
    expect(titleOf(await browser.submit(f.proofUrl, { ...form, code: codeIn(mail), password }))).toBe(elsewhere)
    const link = new URL(linkIn(mail))
    link.searchParams.set('for', 'recovery')
    expect(titleOf(await browser.open(link.href))).toBe(elsewhere)
    expect(f.memory.users.get('alice')?.password).toBe('alice-password')
  })

  test('do not count in another request of the same browser', async () => {
    const f = await ready()
    const first = await f.start()
    const second = await f.start({}, first.browser)
    await first.ask('forgot', address)
    const link = new URL(linkIn(await f.lastMail()))
    const { interaction = '' } = hiddenFields(await second.follow('forgot'))
    link.searchParams.set('interaction', interaction)
    expect(titleOf(await first.browser.open(link.href))).toBe(elsewhere)
  })
})
