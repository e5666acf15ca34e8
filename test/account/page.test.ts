// The page of the account: it signs in as a client of the endpoint, lists, and changes after a recent authentication.
import { accountPage } from '@grantry/plugins/account'
import { describe, expect, test } from 'vitest'
import { hiddenFields } from '../authorization/browser.ts'
import { web } from '../authorization/parties.ts'
import { accountUri, issuer, linksTo, setUpAccount } from './parties.ts'

describe('the sign-in of the account page', () => {
  test('20.40 sends a browser without a session to the sign-in, and returns to the page', async () => {
    const { browser, enter } = await setUpAccount()
    const visitor = browser()
    const login = await visitor.open(accountUri)
    expect([login.url.pathname, login.html.includes('name="password"')]).toEqual(['/connect/authorize', true])
    const page = await enter(visitor, login)
    expect([page.status, page.url.href]).toEqual([200, accountUri])
    expect(page.html).toContain('Signed in as alice<')
    expect(page.html).toContain('This device')
  })

  test('shows a link after a canceled sign-in, instead of another redirect', async () => {
    const { browser } = await setUpAccount()
    const visitor = browser()
    const login = await visitor.open(accountUri)
    const page = await visitor.submit(`${issuer}/connect/signin`, { ...hiddenFields(login), decision: 'cancel' })
    expect([page.status, page.html.includes('You are not signed in')]).toEqual([400, true])
    expect(page.html).toContain(`href="${accountUri}"`)
  })

  test('asks a user who was revoked, or deactivated, to sign in again', async () => {
    let isActive = true
    const { signedIn, provider } = await setUpAccount({
      provider: { users: { authenticate: () => ({ sub: 'u' }), isActive: () => isActive, claims: () => ({}) } },
    })
    const { browser } = await signedIn()
    isActive = false
    expect((await browser.open(accountUri)).html).toContain('name="password"')
    isActive = true
    expect((await browser.open(accountUri)).html).toContain('id="sessions"')
    await provider.revoke({ subject: 'u' })
    expect((await browser.open(accountUri)).html).toContain('name="password"')
  })

  test('refuses a mistake in the options', () => {
    expect(() => accountPage({} as never)).toThrow('accountPage()')
    expect(() => accountPage({ pages: { overview: 1 }, maxAge: 1 } as never)).toThrow('maxAge')
  })
})

describe('sessions', () => {
  test('20.43 are listed with the browser and the address, and end one by one', async () => {
    const { signedIn, send, provider } = await setUpAccount()
    const laptop = await signedIn()
    const phone = await signedIn()
    const page = await laptop.browser.open(accountUri)
    expect(page.html).toContain('192.0.2.1')
    const [link = ''] = linksTo(page, 'sessions/').filter((url) => !url.endsWith('end-others'))
    const asked = await laptop.browser.open(link)
    expect(asked.html).toContain('Sign out this device?')
    expect((await phone.browser.open(accountUri)).html).toContain('id="sessions"')
    const done = await send(laptop.browser, asked)
    expect([done.status, done.html.includes('The device is signed out')]).toEqual([200, true])
    expect(linksTo(done, 'sessions/')).toEqual([])
    expect((await phone.browser.open(accountUri)).html).toContain('name="password"')
    expect(provider.issuer).toBe(issuer)
    // A reload of the form.
    expect((await send(laptop.browser, asked)).html).toContain('That no longer exists')
  })

  test('20.43 this browser is signed out, also long after the sign-in', async () => {
    const { signedIn, send, clock } = await setUpAccount()
    const { browser } = await signedIn()
    const phone = await signedIn()
    clock.advance(301)
    const page = await browser.open(accountUri)
    const [link = ''] = linksTo(page, 'sign-out')
    expect((await browser.submit(link, { form_token: 'x' })).status).toBe(400)
    const asked = await browser.open(link)
    expect(asked.html).toContain('Sign out this device?')
    const done = await send(browser, asked)
    expect([done.status, done.html.includes('You are not signed in')]).toEqual([200, true])
    expect((await browser.open(accountUri)).html).toContain('name="password"')
    expect((await phone.browser.open(accountUri)).html).toContain('id="sessions"')
  })

  test('all others end together', async () => {
    const { signedIn, send, events } = await setUpAccount()
    const laptop = await signedIn()
    const others = [await signedIn(), await signedIn()]
    const stranger = await signedIn('bob')
    const done = await send(laptop.browser, await laptop.browser.open(`${accountUri}/sessions/end-others`))
    expect(done.html).toContain('All other devices are signed out')
    for (const { browser } of others) expect((await browser.open(accountUri)).html).toContain('name="password"')
    expect((await stranger.browser.open(accountUri)).html).toContain('Signed in as bob<')
    const changes = events.filter(({ type }) => type === 'account_changed')
    expect(changes).toMatchObject([{ change: 'sessions_ended', sub: 'sub of alice' }])
  })

  test('that were not used for too long are not listed', async () => {
    const { signedIn, clock } = await setUpAccount()
    await signedIn()
    clock.advance(3601)
    const { page } = await signedIn()
    expect(linksTo(page, 'sessions/')).toEqual([])
  })
})

describe('applications', () => {
  test('20.44 are listed with what they may do; a withdrawn one loses its tokens and must ask again', async () => {
    const { signedIn, send, authorize, post } = await setUpAccount()
    const { browser } = await signedIn()
    const { body } = await authorize(browser)
    const page = await browser.open(accountUri)
    expect(page.html).toContain('Keep this access while you are away')
    const [link = ''] = linksTo(page, 'applications/')
    const done = await send(browser, await browser.open(link))
    expect(done.html).toContain('The access is removed')
    expect(linksTo(done, 'applications/')).toEqual([])
    const refreshed = await post('token', { grant_type: 'refresh_token', refresh_token: body.refresh_token }, web)
    expect(refreshed.body.error).toBe('invalid_grant')
    expect((await authorize(browser)).body.access_token).toBeDefined()
    expect(linksTo(await browser.open(accountUri), 'applications/')).toHaveLength(1)
  })

  test('20.44 lose access tokens without a refresh token, too', async () => {
    const { signedIn, send, authorize, provider } = await setUpAccount()
    const { browser } = await signedIn()
    const { body } = await authorize(browser, 'openid api1')
    const userinfo = async () => {
      const headers = { authorization: `Bearer ${body.access_token}` }
      return (await provider.fetch(new Request(`${issuer}/connect/userinfo`, { headers }))).status
    }
    expect(await userinfo()).toBe(200)
    const [link = ''] = linksTo(await browser.open(accountUri), 'applications/')
    await send(browser, await browser.open(link))
    expect(await userinfo()).toBe(401)
  })
})

describe('a recent authentication', () => {
  test('20.42 is needed for a change: the user signs in again and returns to the form', async () => {
    const { signedIn, enter, send, clock } = await setUpAccount()
    const { browser } = await signedIn()
    await signedIn()
    clock.advance(301)
    const [link = ''] = linksTo(await browser.open(accountUri), 'sessions/end')
    const login = await browser.open(link)
    expect(login.html).toContain('name="password"')
    const asked = await enter(browser, login)
    expect([asked.url.href, asked.html.includes('Sign out all other devices?')]).toEqual([link, true])
    expect((await send(browser, asked)).html).toContain('All other devices are signed out')
  })

  test('is needed when the form is sent', async () => {
    const { signedIn, send, clock } = await setUpAccount()
    const { browser } = await signedIn()
    const phone = await signedIn()
    const asked = await browser.open(`${accountUri}/sessions/end-others`)
    clock.advance(301)
    expect((await send(browser, asked)).html).toContain('name="password"')
    expect((await phone.browser.open(accountUri)).html).toContain('id="sessions"')
  })
})
