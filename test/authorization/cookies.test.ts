import { createPages } from '@grantry/pages'
import { endSession } from '@grantry/plugins/end-session'
import { describe, expect, test } from 'vitest'
import { createBrowser as createDeviceBrowser, setUpPage } from '../device-authorization/browser.ts'
import { nameOf, setUpSignIn } from '../sign-in/parties.ts'
import { hiddenFields } from './browser.ts'
import { request } from './parties.ts'

describe('a cookie', () => {
  test.each(['; ', ';', ' ;', ';\t'])('is found among others that %j separates', async (separator) => {
    const { start, provider, urlOf } = await setUpSignIn()
    const { browser, page, enter } = await start()
    expect(nameOf(page)).toBe('signIn')
    await enter('alice')
    const cookie = ['a=b', ...[...browser.jar].map((pair) => pair.join('=')), 'c=d'].join(separator)
    const response = await provider.fetch(new Request(urlOf(request), { headers: { cookie } }))
    expect((await response.text()).startsWith('consent ')).toBe(true)
  })

  test.each([
    ['https://id.example.com', 'https://id.example.com/tenant'],
    ['https://id.example.com/one', 'https://id.example.com/two'],
    ['https://id.example.com', 'https://id.example.com:8443'],
    ['http://localhost:3000', 'http://localhost:4000'],
  ])('of %s is not one of %s, on the same host', async (firstIssuer, secondIssuer) => {
    const pages = createPages()
    const set = (issuer: string) => setUpSignIn({ pages }, { issuer }, { features: [endSession({ pages })] })
    const [first, second] = [await set(firstIssuer), await set(secondIssuer)]
    const { browser, enter } = await first.start()
    await enter('alice')
    // The browser has one jar for the host.
    const elsewhere = second.browser()
    for (const [name, value] of browser.jar) elsewhere.jar.set(name, value)
    const entered = await second.start({}, elsewhere)
    await entered.enter('bob')
    for (const [name, value] of elsewhere.jar) browser.jar.set(name, value)
    const page = await browser.open(first.urlOf(request))
    expect(page.html).toContain('alice')
    // A logout of the one is none of the other.
    const asked = await elsewhere.open(`${secondIssuer}/connect/endsession`)
    await elsewhere.submit(`${secondIssuer}/connect/endsession/confirm`, { ...hiddenFields(asked), decision: 'logout' })
    expect((await elsewhere.open(second.urlOf(request))).html).not.toContain('bob')
    expect((await browser.open(first.urlOf(request))).html).toContain('alice')
  })

  test('of the page for device codes is not Secure with an http issuer: WebKit would drop it', async () => {
    const { start, provider } = await setUpPage({}, { issuer: 'http://localhost:3000' })
    const { body } = await start()
    const { headers } = await createDeviceBrowser(provider, 'alice').open({ user_code: body.user_code })
    expect(headers.getSetCookie()).toEqual([
      expect.stringMatching(/^device-[\w-]{16}=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/u),
    ])
  })
})
