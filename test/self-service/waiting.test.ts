// Mails that are asked for late, links in another browser, and browsers that keep no cookies.
import { describe, expect, test } from 'vitest'
import { setUpAccount } from '../account/parties.ts'
import { createBrowser, hiddenFields } from '../authorization/browser.ts'
import { actionOf, aliceAccount, codeIn, linkIn, setUpAccounts, titleOf } from './parties.ts'

const password = 'correct horse battery'
const address = 'alice@example.com'

describe('a mail that is asked for at the end of a request', () => {
  test.each([1, 900, 1740, 1799])('19.2 counts for 15 minutes, after %i seconds', async (seconds) => {
    const f = await setUpAccounts()
    const { follow, page, browser, submit } = await f.start()
    const form = await follow('forgot', page)
    f.clock.advance(seconds)
    const sent = await submit(form, { address })
    expect(sent.html).toContain('valid for 15 min')
    f.clock.advance(890)
    const proved = await browser.open(linkIn(await f.lastMail()))
    expect(titleOf(proved)).toBe('Choose a new password')
    const done = await submit(proved, { password })
    expect(done.html).toContain('Signed in as alice')
    expect(f.memory.users.get('alice')?.password).toBe(password)
  })

  test('does not let a request wait for longer than a day, or be answered twice', async () => {
    const f = await setUpAccounts()
    const { ask, page, submit } = await f.start()
    for (let mail = 0; mail < 120; mail += 1) {
      const sent = await ask('forgot', `user${mail}@example.com`).catch(() => undefined)
      if (sent === undefined || !sent.html.includes('id="again"')) break
      f.clock.advance(850)
    }
    expect((await submit(page, { username: 'alice', password: 'alice-password' })).status).toBe(400)
  })
})

describe('a mailed link in another browser', () => {
  test.each([
    ['both', true],
    ['code', undefined],
    ['link', false],
  ] as const)('names the code only where there is one: %s', async (mail, hasCode) => {
    const f = await setUpAccounts({ mail })
    const { ask } = await f.start()
    await ask('by-mail', address)
    const link = linkIn(await f.lastMail())
    if (hasCode === undefined) return expect([link, codeIn(await f.lastMail())]).toEqual(['', expect.any(String)])
    const page = await f.browser().open(link)
    expect([page.status, titleOf(page)]).toEqual([400, 'This link does not work here'])
    expect(page.html.includes('enter the code')).toBe(hasCode)
  })
})

describe('a browser that keeps no cookies', () => {
  test('learns so from the sign-in', async () => {
    const f = await setUpAccounts()
    const { page } = await f.start()
    const stranger = createBrowser(f.provider)
    const refused = await stranger.submit(actionOf(page), { ...hiddenFields(page), username: 'alice', password: 'x' })
    expect([refused.status, refused.html.includes('Your browser has sent no cookie.')]).toEqual([400, true])
    // With other cookies, the request has expired.
    const known = await f.start()
    const expired = await known.browser.submit(actionOf(page), hiddenFields(page))
    expect(expired.html).toContain('This request has expired')
  })

  test('learns so from the account page, after the sign-in', async () => {
    const f = await setUpAccount()
    const returned = await f.browser().open('https://id.example.com/account?code=x')
    expect([returned.status, returned.html.includes('Your browser has sent no cookie.')]).toEqual([400, true])
    const { browser } = await f.signedIn()
    browser.jar.delete([...browser.jar.keys()].find((name) => name.includes('session')) ?? '')
    expect((await browser.open('https://id.example.com/account?code=x')).html).toContain('You are not signed in')
  })
})

test('a recovery in a browser in which another user is signed in ends in the account that was recovered', async () => {
  for (const parameters of [
    {},
    { prompt: 'login' },
    { max_age: '0' },
    { login_hint: 'bob@example.com', prompt: 'login' },
  ]) {
    const f = await setUpAccounts()
    const bob = { ...aliceAccount, claims: {}, sub: 'bob', username: 'bob', email: 'bob@example.com' }
    f.memory.users.set('bob', { ...bob, password: 'bob-password' })
    const { browser, ask, submit } = await f.start(parameters)
    await ask('forgot', address)
    // Meanwhile, in another tab.
    const tab = await f.start({}, browser)
    await tab.submit(tab.page, { username: 'bob', password: 'bob-password' })
    const done = await submit(await browser.open(linkIn(await f.lastMail())), { password })
    expect(done.html).toContain('Signed in as alice')
  }
})
