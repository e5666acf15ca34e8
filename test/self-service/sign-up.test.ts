import { decodeJwt } from '@grantry/core'
import { describe, expect, test } from 'vitest'
import { answer } from '../authorization/browser.ts'
import { linkIn, linkOf, problemOf, setUpAccounts, titleOf } from './parties.ts'

const password = 'correct horse battery'

describe('a new account', () => {
  test('is created with an address, and the request continues', async () => {
    const f = await setUpAccounts({ signUp: 'open' })
    const { ask, browser, submit } = await f.start()
    expect(titleOf(await ask('create', 'carol@example.com'))).toBe('Check your email')
    const page = await browser.open(linkIn(await f.lastMail()))
    expect(titleOf(page)).toBe('Create an account')
    const done = await submit(await submit(page, { password }), { decision: 'allow' })
    const { body } = await f.redeem(answer(done).code)
    expect(decodeJwt(body.id_token)?.claims).toMatchObject({ sub: 'new-1', amr: ['email'] })
    expect(f.events.map(({ type }) => type)).toContain('account_created')
  })

  test('has the name that its user chooses', async () => {
    const f = await setUpAccounts({ signUp: 'open', names: 'username' })
    const { ask, browser, submit } = await f.start()
    await ask('create', 'carol@example.com')
    let page = await browser.open(linkIn(await f.lastMail()))
    for (const [username, problem] of [
      ['alice', 'This user name is taken. Choose another one.'],
      ['bob@example.com', 'Choose a user name of 3 to 64 letters'],
      ['c', 'Choose a user name of 3 to 64 letters'],
    ] as const) {
      page = await submit(page, { username, password })
      expect(problemOf(page)).toContain(problem)
      expect(page.html).toContain(`value="${username}"`)
    }
    expect((await submit(page, { username: 'carol', password })).html).toContain('Signed in as carol')
    expect(f.memory.users.get('new-1')).toMatchObject({ username: 'carol', email: 'carol@example.com' })
  })
})

describe('19.9 prompt=create', () => {
  test('shows the page for a new account, with a way back, also to a user who is signed in', async () => {
    const f = await setUpAccounts({ signUp: 'open' })
    const { browser, page, submit, follow } = await f.start({ prompt: 'create' })
    expect(titleOf(page)).toBe('Create an account')
    const signInPage = await follow('back')
    expect(titleOf(signInPage)).toBe('Sign in')
    expect((await submit(signInPage, { username: 'alice', password: 'alice-password' })).html).toContain(
      'Signed in as alice',
    )
    expect(titleOf((await f.start({ prompt: 'create' }, browser)).page)).toBe('Create an account')
    expect(linkOf(page, 'back')).not.toBe('')
  })

  test('is in the discovery document, and accepted, only where users can create an account', async () => {
    const supported = async (signUp: 'open' | 'closed') => {
      const f = await setUpAccounts({ signUp })
      const response = await f.provider.fetch(new Request(`${f.provider.issuer}/.well-known/openid-configuration`))
      const { prompt_values_supported: values } = (await response.json()) as { prompt_values_supported: string[] }
      return { isListed: values.includes('create'), error: answer((await f.start({ prompt: 'create' })).page).error }
    }
    expect(await supported('open')).toEqual({ isListed: true, error: undefined })
    expect(await supported('closed')).toEqual({ isListed: false, error: 'invalid_request' })
  })
})
