import { describe, expect, test } from 'vitest'
import { answer } from '../authorization/browser.ts'
import { nameOf } from '../sign-in/parties.ts'
import { setUpUpstream } from './parties.ts'

describe('a sign-in at another provider', () => {
  test('18.1 sends an authorization request with PKCE, a nonce and a state, and a callback of its own', async () => {
    const f = await setUpUpstream()
    const { request, page } = await f.leave()
    expect(nameOf(page)).toBe('signIn')
    expect(request.origin + request.pathname).toBe('https://login.acme.example.com/authorize')
    expect(Object.fromEntries(request.searchParams)).toMatchObject({
      client_id: 'grantry',
      response_type: 'code',
      scope: 'openid profile email',
      redirect_uri: 'https://id.example.com/connect/upstream/acme/callback',
      code_challenge_method: 'S256',
    })
    for (const name of ['state', 'nonce', 'code_challenge']) expect(request.searchParams.get(name)).toHaveLength(43)
  })

  test('18.9 signs the user in under a subject that no other user has, with idp, amr and auth_time', async () => {
    const authTime = Math.floor(Date.now() / 1000) - 50
    const f = await setUpUpstream({ double: { claims: { amr: ['pwd', 'otp'], auth_time: authTime, name: 'Alice' } } })
    const { claims, consent } = await f.claimsAfter()
    expect(claims).toMatchObject({ idp: 'acme', amr: ['pwd', 'otp'], auth_time: authTime })
    expect(claims?.sub).toMatch(/^[\w-]{43}$/u)
    expect(consent.html).toContain('"subjectName":"Alice"')
    expect(f.events).toContainEqual(expect.objectContaining({ type: 'upstream_sign_in_succeeded', idp: 'acme' }))
    const ofBob = await setUpUpstream({ double: { claims: { sub: 'upstream-bob' } } })
    expect((await ofBob.claimsAfter()).claims?.sub).not.toBe(claims?.sub)
  })

  test('18.9 states amr external without amr, and an acr only if the configuration maps it', async () => {
    const f = await setUpUpstream({ double: { claims: { acr: 'gold' } } })
    const { claims } = await f.claimsAfter()
    expect(claims).toMatchObject({ amr: ['external'] })
    expect(claims).not.toHaveProperty('acr')
    const mapped = await setUpUpstream({ double: { claims: { acr: 'gold' } }, provider: { acr: { gold: 'urn:mfa' } } })
    expect((await mapped.claimsAfter()).claims).toMatchObject({ acr: 'urn:mfa' })
  })

  test('needs no page in between if there is one provider, and no password', async () => {
    const f = await setUpUpstream({ signIn: { passwords: false } })
    expect((await f.leave()).page.url.origin).toBe(f.double.issuer)
  })

  test('18.3 follows acr_values=idp:NAME, if the client may use the provider', async () => {
    const allowed = await setUpUpstream()
    expect((await allowed.leave({ acr_values: 'idp:acme' })).page.url.origin).toBe(allowed.double.issuer)
    expect(nameOf((await allowed.start({ acr_values: 'idp:other' })).page)).toBe('signIn')
  })

  test('18.2 passes prompt, max_age, login_hint and ui_locales on', async () => {
    const f = await setUpUpstream()
    const { request } = await f.leave({
      prompt: 'login consent',
      login_hint: 'alice@acme.example.com',
      ui_locales: 'de',
    })
    expect(Object.fromEntries(request.searchParams)).toMatchObject({
      prompt: 'login',
      max_age: '0',
      login_hint: 'alice@acme.example.com',
      ui_locales: 'de',
    })
    expect((await f.leave({ max_age: '600' })).request.searchParams.get('max_age')).toBe('600')
  })

  test('18.8 proves a recent sign-in by auth_time, or fails', async () => {
    const f = await setUpUpstream()
    const away = await f.leave({ prompt: 'login' })
    expect((await f.comeBack(away)).html).toContain('provider_not_recent')
    f.double.set({ claims: { auth_time: Math.floor(Date.now() / 1000) } })
    const fresh = await f.leave({ prompt: 'login' })
    expect(nameOf(await f.comeBack(fresh))).toBe('consent')
    f.double.set({ claims: { auth_time: Math.floor(Date.now() / 1000) - 900 } })
    expect((await f.comeBack(await f.leave({ prompt: 'login' }))).html).toContain('provider_not_recent')
  })

  test('18.6 accepts a response that comes as a form of another site', async () => {
    const f = await setUpUpstream({ provider: { responseMode: 'form_post' } })
    const { browser, request } = await f.leave()
    expect(request.searchParams.get('response_mode')).toBe('form_post')
    const response = new URL(f.double.authorize(request))
    const form = Object.fromEntries(response.searchParams)
    // A browser sends no cookies with such a form.
    const sent = await f.provider.fetch(
      new Request(response.origin + response.pathname, { method: 'POST', body: new URLSearchParams(form) }),
      { clientAddress: '192.0.2.1' },
    )
    const location = sent.headers.get('location') ?? ''
    expect(location).not.toContain(form.code)
    expect(nameOf(await browser.open(location))).toBe('consent')
  })

  test('18.10 shows the page of the sign-in again when the provider refuses', async () => {
    const f = await setUpUpstream({ signIn: { passwords: false } })
    const refuse = async (error: string) =>
      (await f.comeBack(await f.leave(), { code: undefined, error, error_description: '<b>text</b>' })).html
    expect(await refuse('access_denied')).toMatch(/^signIn .*provider_refused/u)
    expect(await refuse('temporarily_unavailable')).toMatch(/^signIn .*"provider_unavailable"/u)
    expect(await refuse('server_error')).toMatch(/^signIn .*provider_failed/u)
    expect(await refuse('<script>')).not.toContain('<script>')
    expect(f.failures()).toEqual([
      'provider_access_denied',
      'provider_temporarily_unavailable',
      'provider_server_error',
      'provider_error',
    ])
  })

  test('returns no code to a client whose id_token_hint names another user, and does not loop', async () => {
    const f = await setUpUpstream({ signIn: { passwords: false } })
    const { body } = await f.claimsAfter()
    f.double.set({ claims: { sub: 'upstream-bob', auth_time: 1_700_000_000 } })
    const away = await f.leave({ id_token_hint: body.id_token })
    expect(nameOf(await f.comeBack(away))).toBe('signIn')
  })

  test('leads a reloaded callback to the request, without another sign-in', async () => {
    const f = await setUpUpstream()
    const away = await f.leave()
    const callback = f.double.authorize(away.request)
    expect(nameOf(await away.browser.open(callback))).toBe('consent')
    expect(nameOf(await away.browser.open(callback))).toBe('consent')
    expect(f.double.countOf('/token')).toBe(1)
    expect(answer(await away.browser.open(callback)).code).toBeUndefined()
  })
})
