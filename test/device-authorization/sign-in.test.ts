// The page for devices with the ready sign-in: it signs in, asks and responds in the style of the other pages.
import type { ClientOptions } from '@grantry/core'
import { createPages } from '@grantry/pages'
import { languages } from '@grantry/pages/languages'
import { authorizationCode } from '@grantry/plugins/authorization-code'
import { type AuthorizationEndpointOptions, authorizationEndpoint } from '@grantry/plugins/authorization-endpoint'
import { type DeviceSignInOptions, deviceSignIn, deviceVerification } from '@grantry/plugins/device-authorization'
import { proofKey } from '@grantry/plugins/proof-key'
import { signIn } from '@grantry/plugins/sign-in'
import { describe, expect, test } from 'vitest'
import { createBrowser, hiddenFields, type Page } from '../authorization/browser.ts'
import { address, alice, clients as deviceClients, setUp as setUpDevices } from './parties.ts'

const issuer = 'https://id.example.com'
const pageUri = `${issuer}/connect/device`

async function setUp(
  endpoint: Partial<AuthorizationEndpointOptions> = {},
  client: Partial<ClientOptions> = {},
  isActive = () => true,
  guesses: DeviceSignInOptions['guesses'] = {},
) {
  const pages = createPages({
    name: 'Example',
    languages,
    scopes: { api1: { en: 'Watch films', de: 'Filme ansehen' } },
  })
  const interaction = signIn({ pages })
  const features = [deviceSignIn({ pages, guesses })]
  const [tv, ...others] = deviceClients
  const f = await setUpDevices({
    plugins: [authorizationCode(), proofKey(), authorizationEndpoint({ interaction, pages, features, ...endpoint })],
    clients: [
      {
        ...tv,
        clientId: 'tv',
        grantTypes: ['urn:ietf:params:oauth:grant-type:device_code'],
        clientName: 'TV <3>',
        ...client,
      },
      ...others.slice(0, 1),
    ],
    users: {
      authenticate: ({ username, password }) =>
        password === `${username}-password` ? { sub: `sub of ${username}` } : undefined,
      isActive,
      claims: () => ({}),
    },
  })
  const browser = createBrowser(f.provider)
  const enter = (page: Page, username = 'alice', password = `${username}-password`) =>
    browser.submit(`${issuer}/connect/signin`, { ...hiddenFields(page), username, password })
  return { ...f, browser, enter }
}

describe('a page of the host beside the ready sign-in', () => {
  test('finds, approves and denies codes', async () => {
    const { start, poll, provider, clock } = await setUp()
    const verification = provider.use(deviceVerification)
    const { body } = await start()
    expect(await verification.find(body.user_code, address)).toMatchObject({ clientId: 'tv', scopes: ['api1'] })
    expect(await verification.approve(body.user_code, address, { subject: alice })).toBe(true)
    expect((await poll(body.device_code)).status).toBe(200)
    const { body: denied } = await start()
    expect(await verification.deny(denied.user_code, address)).toBe(true)
    clock.advance(5)
    expect((await poll(denied.device_code)).body.error).toBe('access_denied')
  })

  test('shares the limit of wrong codes with the page of the plugin', async () => {
    const { browser, enter, start, provider } = await setUp({}, {}, () => true, { failures: 2 })
    await enter(await browser.open(pageUri))
    const verification = provider.use(deviceVerification)
    expect(await verification.find('BCDF-GHJK', address)).toBeUndefined()
    await browser.submit(pageUri, { user_code: 'BCDF-GHJK' })
    const { body } = await start()
    await expect(verification.find(body.user_code, address)).rejects.toMatchObject({ code: 'slow_down' })
    expect((await browser.submit(pageUri, { user_code: body.user_code })).status).toBe(429)
  })
})

describe('the page for devices with the ready sign-in', () => {
  // Who knew the verifier would be one step nearer to a code of the page.
  test('sends the user to the sign-in with a challenge that is random', async () => {
    const { provider } = await setUp()
    const challenges = await Promise.all(
      [1, 2, 3].map(async () => {
        const { headers } = await provider.fetch(new Request(pageUri))
        return new URL(headers.get('location') ?? '').searchParams.get('code_challenge')
      }),
    )
    for (const challenge of challenges) expect(challenge).toMatch(/^[\w-]{43}$/u)
    expect(new Set(challenges).size).toBe(3)
  })

  test('signs in, asks, and lets the device in', async () => {
    const { browser, enter, start, poll, clock } = await setUp()
    const { body } = await start()
    expect(body.verification_uri).toBe(pageUri)
    const login = await browser.open(pageUri)
    expect(login.html).toContain('name="password"')
    const empty = await enter(login)
    expect([empty.status, empty.url.pathname, empty.html.includes('name="user_code"')]).toEqual([
      200,
      '/connect/device',
      true,
    ])
    const asked = await browser.submit(pageUri, { user_code: body.user_code })
    for (const text of ['Example', 'TV &lt;3&gt;', 'Watch films', body.user_code, 'Does your device show this code?']) {
      expect(asked.html).toContain(text)
    }
    expect(asked.html).toContain('Signed in as alice<')
    expect((await poll(body.device_code)).body.error).toBe('authorization_pending')
    const done = await browser.submit(pageUri, { ...hiddenFields(asked), decision: 'approve' })
    expect(done.html).toContain('You have approved the request')
    clock.advance(5)
    expect((await poll(body.device_code)).status).toBe(200)
  })

  test('keeps the code of the link during the sign-in, and still asks to compare it', async () => {
    const { browser, enter, start, poll, clock } = await setUp()
    const { body } = await start()
    const asked = await enter(await browser.open(body.verification_uri_complete))
    expect(asked.html).toContain('Does your device show this code?')
    expect(asked.html).not.toContain('name="user_code"')
    expect((await poll(body.device_code)).body.error).toBe('authorization_pending')
    await browser.submit(pageUri, { ...hiddenFields(asked), decision: 'deny' })
    clock.advance(5)
    expect((await poll(body.device_code)).body.error).toBe('access_denied')
  })

  // The consent is not only about scopes: the user compares the code, against a link of an attacker.
  test('asks to compare the code for a client that needs no consent, too', async () => {
    const { browser, enter, start, poll } = await setUp({}, { requireConsent: false })
    const { body } = await start()
    const asked = await enter(await browser.open(body.verification_uri_complete))
    expect(asked.html).toContain('Does your device show this code?')
    expect((await poll(body.device_code)).body.error).toBe('authorization_pending')
  })

  test('a wrong password, and a user who cancels, approve nothing; both have a way on', async () => {
    const { browser, enter, start, poll } = await setUp()
    const { body } = await start()
    const login = await browser.open(body.verification_uri_complete)
    expect((await enter(login, 'alice', 'wrong')).html).toContain('name="password"')
    const cancelled = await browser.submit(`${issuer}/connect/signin`, { ...hiddenFields(login), decision: 'cancel' })
    expect(cancelled.html).toContain('You are not signed in')
    const again = /id="continue" href="([^"]*)"/u.exec(cancelled.html)?.[1] ?? ''
    const next = await browser.open(new URL(again, cancelled.url).href)
    expect(next.html).toContain('name="password"')
    expect((await poll(body.device_code)).body.error).toBe('authorization_pending')
  })

  test('speaks the languages of the other pages, also for mistakes', async () => {
    const { browser, enter, provider } = await setUp()
    await enter(await browser.open(pageUri))
    const request = new Request(pageUri, {
      method: 'POST',
      headers: { 'accept-language': 'de', cookie: [...browser.jar].map((pair) => pair.join('=')).join('; ') },
      body: new URLSearchParams({ user_code: 'BCDF-GHJK' }),
    })
    const response = await provider.fetch(request, { clientAddress: '192.0.2.1' })
    const html = await response.text()
    expect([response.status, html.includes('lang="de"'), html.includes('Dieser Code ist ungültig')]).toEqual([
      400,
      true,
      true,
    ])
  })

  test('the code that the sign-in issues for the page cannot be redeemed', async () => {
    const { browser, enter, post } = await setUp()
    const login = await browser.open(pageUri)
    const { url } = await enter(login)
    const code = url.searchParams.get('code') ?? ''
    expect(code).not.toBe('')
    for (const code_verifier of ['a'.repeat(43), undefined]) {
      const { status, body } = await post('token', {
        grant_type: 'authorization_code',
        client_id: 'urn:grantry:device-page',
        redirect_uri: pageUri,
        code,
        ...(code_verifier !== undefined && { code_verifier }),
      })
      expect([status, body.error]).toEqual([401, 'invalid_client'])
    }
  })

  test('a revoked user is asked to sign in again', async () => {
    const { browser, enter, provider, start } = await setUp()
    const { body } = await start()
    await enter(await browser.open(pageUri))
    await provider.revoke({ subject: 'sub of alice' })
    expect((await browser.open(body.verification_uri_complete)).html).toContain('name="password"')
  })

  test('a deactivated user is asked to sign in again', async () => {
    let active = true
    const { browser, enter, start } = await setUp({}, {}, () => active)
    const { body } = await start()
    await enter(await browser.open(pageUri))
    active = false
    const page = await browser.open(`${pageUri}?user_code=${body.user_code}`)
    expect(page.html).toContain('name="password"')
  })

  test('refuses a mistake in the options', () => {
    expect(() => deviceSignIn({} as never)).toThrow('deviceSignIn()')
    expect(() => deviceSignIn({ pages: createPages(), page: {} } as never)).toThrow('deviceSignIn()')
  })
})
