/**
 * Attack: a thief has the cookie of a session, and wants to keep the account: end the sessions of its user, add a way to
 * sign in, or read what the account contains. The user has signed in some time ago.
 *
 * OWASP ASVS 5.0 section 7.5 (a sensitive change needs the factors again); decision 164.
 */

import { expect, test } from 'vitest'
import { accountUri, issuer, linksTo, setUpAccount } from '../account/parties.ts'
import { hiddenFields } from '../authorization/browser.ts'

test('a stolen session changes nothing without a new authentication', async () => {
  const { signedIn, browser, clock, authorize } = await setUpAccount()
  const user = await signedIn()
  const otherSession = await signedIn()
  await authorize(user.browser)
  clock.advance(301)
  const thief = browser()
  for (const [name, value] of user.browser.jar) thief.jar.set(name, value)
  const page = await thief.open(accountUri)
  const changes = [...linksTo(page, 'sessions/'), ...linksTo(page, 'applications/')]
  expect(changes).toHaveLength(3)
  for (const url of changes) {
    const asked = await thief.open(url)
    expect(asked.html).toContain('name="password"')
    expect((await thief.submit(url, { form_token: 'x' })).html).toContain('name="password"')
    // A form of the sign-in, without the password.
    await thief.submit(`${issuer}/connect/signin`, { ...hiddenFields(asked), username: 'alice', password: 'wrong' })
  }
  expect((await otherSession.browser.open(accountUri)).html).toContain('id="sessions"')
  expect(linksTo(await user.browser.open(accountUri), 'applications/')).toHaveLength(1)
})

test('a form that was shown before the theft is refused when the authentication is too old', async () => {
  const { signedIn, send, clock } = await setUpAccount()
  const user = await signedIn()
  const otherSession = await signedIn()
  const form = await user.browser.open(`${accountUri}/sessions/end-others`)
  clock.advance(301)
  expect((await send(user.browser, form)).html).toContain('name="password"')
  expect((await otherSession.browser.open(accountUri)).html).toContain('id="sessions"')
})

test('a session that was ended signs in and changes nothing, also with its form', async () => {
  const { signedIn, send } = await setUpAccount()
  const user = await signedIn()
  const thief = await signedIn()
  const form = await thief.browser.open(`${accountUri}/sessions/end-others`)
  await send(user.browser, await user.browser.open(`${accountUri}/sessions/end-others`))
  const refused = await send(thief.browser, form)
  expect([refused.status, refused.html.includes('You are not signed in')]).toEqual([400, true])
  expect((await user.browser.open(accountUri)).html).toContain('id="sessions"')
})
