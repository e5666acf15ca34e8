// The attacker reads the mails of a user who has a second factor, and asks for a new password. Without the factor, the
// password must stay, and the sessions of the user, too.
import { describe, expect, test } from 'vitest'
import { hiddenFields, type Page } from '../authorization/browser.ts'
import { linkIn, setUpAccounts, titleOf } from '../self-service/parties.ts'

const password = 'correct horse battery'
const secondFactorUri = 'https://id.example.com/connect/secondfactor'

async function setUp() {
  const f = await setUpAccounts(
    {},
    { signIn: { secondFactors: [{ amr: 'otp', isSetUp: () => true, verify: (_, code) => code.startsWith('right') }] } },
  )
  const current = () => f.memory.users.get('alice')?.password
  /** The page for the code, after a new password was chosen with a mail. */
  async function chosen() {
    const { ask, browser, submit } = await f.start()
    await ask('forgot', 'alice@example.com')
    const page = await submit(await browser.open(linkIn(await f.lastMail())), { password })
    const enter = (of: Page, code: string) => browser.submit(secondFactorUri, { ...hiddenFields(of), code })
    return { page, enter }
  }
  return { ...f, current, chosen }
}

describe('a new password of a user with a second factor', () => {
  test('19.8 is stored only after the factor is proved', async () => {
    const f = await setUp()
    const { page, enter } = await f.chosen()
    expect(page.html).toContain('one-time-code')
    expect(page.html).not.toContain(password)
    const wrong = await enter(page, 'wrong')
    expect(wrong.html).toContain('The code is wrong')
    expect([f.current(), f.revoked()]).toEqual(['alice-password', []])
    expect((await enter(wrong, 'right')).html).toContain('Signed in as alice')
    expect(f.current()).toBe(password)
  })

  test('leaves the sessions of the user while the factor is not proved', async () => {
    const f = await setUp()
    const visit = await f.start()
    const asked = await visit.submit(visit.page, { username: 'alice', password: 'alice-password' })
    await visit.browser.submit(secondFactorUri, { ...hiddenFields(asked), code: 'right' })
    await f.chosen()
    expect((await f.start({}, visit.browser)).page.html).toContain('Signed in as alice')
  })

  test('is stored once: its form is refused when it is sent again', async () => {
    const f = await setUp()
    const { page, enter } = await f.chosen()
    await enter(page, 'right')
    const account = f.memory.users.get('alice')
    if (account !== undefined) f.memory.users.set('alice', { ...account, password: 'a later password' })
    expect(titleOf(await enter(page, 'right again'))).toBe('Sign in')
    expect(f.current()).toBe('a later password')
  })

  test('is not stored after the address was given to another person', async () => {
    const f = await setUp()
    const { page, enter } = await f.chosen()
    const account = f.memory.users.get('alice')
    if (account !== undefined) f.memory.users.set('alice', { ...account, email: 'new@example.com' })
    await enter(page, 'right')
    expect(f.current()).toBe('alice-password')
  })
})
