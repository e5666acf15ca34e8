import { deviceAuthorization } from '@grantry/plugins/device-authorization'
import { refreshToken } from '@grantry/plugins/refresh-token'
import { describe, expect, test } from 'vitest'
import { createBrowser, pageUri, setUpPage, signIn } from './browser.ts'
import { verificationUri } from './parties.ts'

describe('the page of the plugin', () => {
  test('is the verification URI (RFC 8628 section 3.2)', async () => {
    const { start, provider } = await setUpPage()
    const { body } = await start()
    expect(body).toMatchObject({
      verification_uri: pageUri,
      verification_uri_complete: `${pageUri}?user_code=${body.user_code}`,
    })
    expect(provider.paths.deviceVerification).toBe('/connect/device')
  })

  test('is below the path of the issuer, at the path of the option', async () => {
    const { start, provider } = await setUpPage({ path: '/device' }, { issuer: 'https://id.example.com/tenant' })
    expect((await start()).body.verification_uri).toBe('https://id.example.com/tenant/device')
    expect(provider.paths.deviceVerification).toBe('/tenant/device')
  })

  test('can have a shorter URI that leads to it', async () => {
    const plugins = [deviceAuthorization({ verificationUri, page: { signIn } }), refreshToken()]
    const { start } = await setUpPage({}, { plugins })
    expect((await start()).body.verification_uri).toBe(verificationUri)
  })

  test('asks for the code, shows the request and approves it', async () => {
    const { start, poll, provider } = await setUpPage()
    const { body } = await start({ scope: 'openid api1' })
    const browser = createBrowser(provider, 'alice')
    const first = await browser.open()
    expect([first.status, first.token]).toEqual([200, ''])
    expect(first.html).toContain('<label for="user_code">')
    const asked = await browser.submit({ user_code: body.user_code.toLowerCase() })
    expect(asked.status).toBe(200)
    for (const shown of [body.user_code, 'tv', '<li>openid</li>', '<li>api1</li>']) expect(asked.html).toContain(shown)
    expect((await poll(body.device_code)).body.error).toBe('authorization_pending')
    const decided = await browser.submit({ form_token: asked.token, decision: 'approve' })
    expect(decided.status).toBe(200)
    expect(decided.html).toContain('You have approved the request')
  })

  test('shows the name that signIn returns with the user, and decides for the user', async () => {
    const signedIn = () => ({ subject: { sub: 'id-1', amr: ['pwd'] }, name: 'Al <b>' })
    const { start, poll, provider } = await setUpPage({ signIn: signedIn })
    const { body } = await start()
    const browser = createBrowser(provider)
    const { token, html } = await browser.open({ user_code: body.user_code })
    expect(html).toMatch(/Signed in as Al &#60;b&#62;</u)
    expect(html).not.toContain('id-1')
    await browser.submit({ form_token: token, decision: 'approve' })
    const { body: tokens } = await poll(body.device_code)
    expect(await provider.inspect(tokens.access_token)).toMatchObject({ claims: { sub: 'id-1' } })
  })

  test('gives the device the tokens of the user who is signed in', async () => {
    const { start, poll, provider } = await setUpPage()
    const { body } = await start({ scope: 'openid api1' })
    const browser = createBrowser(provider, 'alice')
    const { token } = await browser.open({ user_code: body.user_code })
    await browser.submit({ form_token: token, decision: 'approve' })
    const { status, body: tokens } = await poll(body.device_code)
    expect(status).toBe(200)
    expect(await provider.inspect(tokens.access_token)).toMatchObject({ claims: { sub: 'alice' } })
  })

  test('denies', async () => {
    const { start, poll, provider } = await setUpPage()
    const { body } = await start()
    const browser = createBrowser(provider, 'alice')
    const { token } = await browser.open({ user_code: body.user_code })
    expect((await browser.submit({ form_token: token, decision: 'deny' })).html).toContain('You have denied')
    expect((await poll(body.device_code)).body.error).toBe('access_denied')
  })

  test('keeps its cookie, so that two tabs can decide', async () => {
    const { start, provider } = await setUpPage()
    const [firstCode, secondCode] = [await start(), await start()]
    const browser = createBrowser(provider, 'alice')
    const first = await browser.open({ user_code: firstCode.body.user_code })
    expect(first.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^__Host-device=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Secure$/u),
    ])
    const second = await browser.open({ user_code: secondCode.body.user_code })
    expect(second.headers.getSetCookie()).toEqual([])
    for (const { token } of [first, second]) {
      expect((await browser.submit({ form_token: token, decision: 'approve' })).status).toBe(200)
    }
  })

  test('does not show the request of a client that was disabled', async () => {
    let enabled = true
    const find = (clientId: string) => ({
      clientId,
      public: true,
      enabled,
      grantTypes: ['urn:ietf:params:oauth:grant-type:device_code'],
      scopes: ['api1'],
    })
    const { start, provider } = await setUpPage({}, { clients: { find } })
    const { body } = await start({ scope: 'api1', client_id: 'lamp' }, null)
    enabled = false
    expect((await createBrowser(provider, 'alice').open({ user_code: body.user_code })).status).toBe(400)
  })
})

describe('a user who is not signed in', () => {
  test('gets the reply of the host, and returns with the code', async () => {
    const { start, provider } = await setUpPage({
      signIn: (request) => ({ location: `https://login.example.com/?to=${encodeURIComponent(request.url)}` }),
    })
    const { body } = await start()
    const { status, headers } = await createBrowser(provider).open({ user_code: body.user_code })
    expect(status).toBe(303)
    const { searchParams } = new URL(headers.get('location') ?? '')
    expect(searchParams.get('to')).toBe(body.verification_uri_complete)
  })

  test('does not learn whether a code is valid', async () => {
    const { start, provider, events } = await setUpPage()
    const { body } = await start()
    const browser = createBrowser(provider)
    const [known, unknown] = [
      await browser.open({ user_code: body.user_code }),
      await browser.open({ user_code: 'BCDF-GHJK' }),
    ]
    expect([known.status, known.html]).toEqual([unknown.status, unknown.html])
    expect(known.html).toContain('You are not signed in')
    expect(events.at(-1)).toMatchObject({ error: 'login_required', reason: 'plugin:device-authorization:signed_out' })
  })

  test('gets a link instead of a redirect after a form, because form-action applies to redirects', async () => {
    const { start, provider } = await setUpPage({
      signIn: (request, kit) => signIn(request, kit) ?? { location: 'https://login.example.com/' },
    })
    const { body } = await start()
    const browser = createBrowser(provider, 'alice')
    const { token } = await browser.open({ user_code: body.user_code })
    browser.jar.delete('session')
    const { status, html } = await browser.submit({ form_token: token, decision: 'approve' })
    expect([status, html.includes('<a href="">')]).toEqual([400, true])
  })
})

describe('the host', () => {
  test('can render the page', async () => {
    const { start, provider } = await setUpPage({
      render: (state) => ({
        html:
          state.step === 'confirm' ? `<p>${state.client.clientId} ${state.subject.sub}</p>` : `<p>${state.step}</p>`,
        cookies: ['theme=dark; SameSite=Lax'],
      }),
    })
    const browser = createBrowser(provider, 'alice')
    expect((await browser.open()).html).toBe('<p>enter_code</p>')
    const { html, headers } = await browser.open({ user_code: (await start()).body.user_code })
    expect(html).toBe('<p>tv alice</p>')
    expect(headers.getSetCookie()).toEqual(['theme=dark; SameSite=Lax', expect.stringMatching(/^__Host-device=/u)])
  })

  test.each([
    [{}, /deviceAuthorization\(\): verificationUri is required without page/u],
    [{ page: {} }, /page\.signIn is required/u],
    [{ page: { signIn: true } }, /page\.signIn must be a function/u],
    [{ page: { signIn, path: 'device' } }, /page\.path must be a path such as \/device/u],
    [{ page: { signIn, rendr: () => ({}) } }, /page\.rendr is not a known option; did you mean render/u],
  ])('gets an error at startup for a malformed option: %o', (options, message) => {
    expect(() => deviceAuthorization(options as never)).toThrow(message)
  })

  test('must report the address of the user, because guesses would not be limited', async () => {
    const { start, provider, events } = await setUpPage()
    const { body } = await start()
    const request = new Request(`${pageUri}?user_code=${body.user_code}`, { headers: { cookie: 'session=alice' } })
    expect((await provider.fetch(request)).status).toBe(500)
    expect(events.map(({ type }) => type)).toContain('unhandled_failure')
  })
})
