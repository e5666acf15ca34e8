// Attack: the session of one client counts on the page for devices. An attacker who knows only the password of a user, or an
// account at a provider that a client does not accept, approves a device with a session that the authorization endpoint would
// refuse for the same client: the operator demands a second factor, or the client allows only some providers.
import type { ClientOptions } from '@grantry/core'
import { createPages } from '@grantry/pages'
import { deviceGrantType, deviceSignIn } from '@grantry/plugins/device-authorization'
import { storedSecondFactors } from '@grantry/plugins/one-time-password'
import { upstream } from '@grantry/plugins/upstream'
import { sha256Of } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { codeAt, encryptionSecrets, secretIn } from '../account/factors.ts'
import { type Browser, issuer, setUpAccount } from '../account/parties.ts'
import { hiddenFields, type Page, unescapeHtml } from '../authorization/browser.ts'
import { clients, request } from '../authorization/parties.ts'
import { createOpenIdDouble, realNow } from '../upstream/openid-double.ts'
import { acmeOf, linkTo } from '../upstream/parties.ts'

const tv = {
  clientId: 'tv',
  secrets: [{ sha256: sha256Of('tv-secret') }],
  grantTypes: [deviceGrantType],
  scopes: ['openid', 'api1'],
}

const deviceUri = `${issuer}/connect/device`

async function setUp(requireSecondFactor: boolean, client: Partial<ClientOptions> = {}) {
  const double = await createOpenIdDouble({ claims: { auth_time: realNow() } })
  const stored = storedSecondFactors({ encryptionSecrets })
  const providers = [acmeOf(double), acmeOf(double, { name: 'other', displayName: 'Other' })]
  const f = await setUpAccount({
    signIn: { secondFactors: stored.factors, ways: [upstream({ providers, fetch: double.fetch })] },
    account: { secondFactors: stored.account, requireSecondFactor },
    endpoint: { features: [deviceSignIn({ pages: createPages({ locales: ['en'] }) })] },
    provider: { clients: [...clients, { ...tv, ...client }], runtime: { now: realNow } },
  })
  const start = async () => (await f.post('deviceAuthorization', { scope: 'openid' }, ['tv', 'tv-secret'])).body
  const poll = async (code: unknown) => {
    const form = { grant_type: deviceGrantType, device_code: String(code) }
    return (await f.post('token', form, ['tv', 'tv-secret'])).body
  }
  const open = (browser: Browser, { user_code }: Readonly<Record<string, unknown>>) =>
    browser.open(`${deviceUri}?user_code=${String(user_code)}`)
  const approve = (browser: Browser, page: Page) =>
    browser.submit(deviceUri, { ...hiddenFields(page), decision: 'approve' })
  const reasons = () => f.events.flatMap((event) => (event.type === 'endpoint_failed' ? [event.reason] : []))
  return { ...f, double, start, poll, open, approve, reasons }
}

const anotherSignIn = 'Sign in again for this application'
const otherLink = ({ html }: Page): string => unescapeHtml(/id="continue" href="([^"]*)"/u.exec(html)?.[1] ?? '')

describe('the operator demands a second factor', () => {
  test('a session by the password alone approves no device', async () => {
    const { signedIn, start, open, approve, poll, reasons } = await setUp(true)
    const { browser } = await signedIn()
    const device = await start()
    const page = await open(browser, device)
    expect(page.html).toContain(anotherSignIn)
    expect(reasons()).toEqual(['plugin:authorization-endpoint:sign_in_insufficient'])
    await approve(browser, page)
    expect(await poll(device.device_code)).toMatchObject({ error: 'authorization_pending' })
  })

  test('the other sign-in of the page sets a factor up, and the device gets its tokens', async () => {
    const { signedIn, start, open, approve, poll, send, enter } = await setUp(true)
    const { browser } = await signedIn()
    const device = await start()
    const refused = await open(browser, device)
    const setUpPage = await enter(browser, await browser.open(new URL(otherLink(refused), deviceUri).href))
    expect(setUpPage.url.pathname).toMatch(/^\/account\/otp\/set-up\//u)
    const codes = await send(browser, setUpPage, { code: codeAt(secretIn(setUpPage), realNow()) })
    const page = await browser.open(unescapeHtml(/id="done" href="([^"]*)"/u.exec(codes.html)?.[1] ?? ''))
    await approve(browser, page)
    expect(await poll(device.device_code)).toHaveProperty('access_token')
  })
})

describe('the client allows only one provider', () => {
  async function withSessionOf(provider: string) {
    const f = await setUp(false, { identityProviders: ['acme'] })
    const browser = f.browser()
    const signInAt = async (name: string) => {
      const parameters = new URLSearchParams({ ...request, prompt: 'login' })
      const login = await browser.open(`${issuer}/connect/authorize?${parameters}`)
      const away = await browser.open(linkOf(login, name))
      await browser.open(f.double.authorize(away.url))
    }
    await signInAt(provider)
    return { ...f, browser, signInAt }
  }

  const linkOf = (page: Page, provider: string): string =>
    linkTo(provider, page) ||
    unescapeHtml(new RegExp(`href="([^"]*/connect/upstream/${provider}[^"]*)"`, 'u').exec(page.html)?.[1] ?? '')

  test('a session of another provider approves no device', async () => {
    const { browser, start, open, approve, poll } = await withSessionOf('other')
    const device = await start()
    const page = await open(browser, device)
    expect(page.html).toContain(anotherSignIn)
    await approve(browser, page)
    expect(await poll(device.device_code)).toMatchObject({ error: 'authorization_pending' })
  })

  test('a session of another provider approves none on a page that was shown for a session of the right one', async () => {
    const { browser, signInAt, start, open, approve, poll } = await withSessionOf('acme')
    const device = await start()
    const page = await open(browser, device)
    await signInAt('other')
    expect((await approve(browser, page)).html).toContain(anotherSignIn)
    expect(await poll(device.device_code)).toMatchObject({ error: 'authorization_pending' })
  })

  test('a session of the right provider approves a device', async () => {
    const { browser, start, open, approve, poll } = await withSessionOf('acme')
    const device = await start()
    await approve(browser, await open(browser, device))
    expect(await poll(device.device_code)).toHaveProperty('access_token')
  })
})
