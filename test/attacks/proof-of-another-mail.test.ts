/**
 * Attack: in the own browser, an attacker proves the own address, then asks for a mail to the address of a victim, whose
 * ticket replaces the first one. With the proof of the own mail, or the own link or code, the attacker then
 * chooses the password of the victim, or creates an account with the victim's address.
 *
 * OWASP ASVS 5.0 section 6.4; decision 162.
 */
import { describe, expect, test } from 'vitest'
import { hiddenFields } from '../authorization/browser.ts'
import { aliceAccount, codeIn, linkIn, setUpAccounts, titleOf } from '../self-service/parties.ts'

const password = 'correct horse battery'
const mallory = { ...aliceAccount, sub: 'mallory', username: 'mallory', email: 'mallory@evil.example', claims: {} }

/** The own mail was opened, and then a mail to the victim was asked for, in the same browser and request. */
async function setUpProofs(link: 'forgot' | 'create' | 'by-mail', ownAddress: string, victim: string) {
  const f = await setUpAccounts({ signUp: 'open', mail: 'both' })
  f.memory.users.set('mallory', mallory)
  const { ask, browser, submit } = await f.start()
  await ask(link, ownAddress)
  const mail = await f.lastMail()
  const proved = await browser.open(linkIn(mail))
  const sent = await ask(link, victim)
  return { ...f, browser, submit, mail, proved, sent }
}

describe('a proof of the own mail proves nothing of the mail to a victim', () => {
  test.each([
    ['forgot', 'mallory@evil.example', 'alice@example.com'],
    ['create', 'new@evil.example', 'victim@example.com'],
    ['by-mail', 'mallory@evil.example', 'alice@example.com'],
  ] as const)('with the link %s', async (link, ownAddress, victim) => {
    const { submit, browser, mail, proved, sent, memory, events } = await setUpProofs(link, ownAddress, victim)
    expect(hiddenFields(proved).proof).toBeDefined()
    const before = structuredClone([...memory.users])
    const { proof = '' } = hiddenFields(proved)
    const attempts = [
      await submit(proved, { password }),
      await submit(sent, { proof, password }),
      await submit(sent, { code: codeIn(mail) }),
      await browser.open(linkIn(mail)),
    ]
    for (const page of attempts) {
      expect(titleOf(page)).not.toBe('Choose a new password')
      expect(page.url.href).not.toContain('code=')
    }
    expect([...memory.users]).toEqual(before)
    expect(events.filter(({ type }) => type === 'session_started' || type === 'account_created')).toEqual([])
    expect(codeIn(mail)).toMatch(/^\d{8}$/u)
  })

  test('a proof of one browser proves nothing in another one', async () => {
    const f = await setUpAccounts()
    const [proving, elsewhere] = [await f.start(), await f.start()]
    await proving.ask('forgot', 'alice@example.com')
    const proved = await proving.browser.open(linkIn(await f.lastMail()))
    const sent = await elsewhere.ask('forgot', 'alice@example.com')
    const { proof = '' } = hiddenFields(proved)
    expect(proof).not.toBe('')
    await elsewhere.submit(sent, { proof, password })
    expect(f.memory.users.get('alice')?.password).toBe('alice-password')
  })
})
