import { describe, expect, test, vi } from 'vitest'
import { type AuthorizeRouteOptions, authorizeRoute } from '../../packages/next/src/authorize.ts'
import { createSite } from './site.ts'

const login = 'https://site.example.com/login'
const consent = 'https://site.example.com/consent'
const callback = 'https://client.example.com/callback'

describe('authorizeRoute()', () => {
  test('copies no body but that of the form of the page for consent', async () => {
    const clone = vi.spyOn(Request.prototype, 'clone')
    const { site, open, decide, now } = await createSite()
    site.user = { sub: 'alice', amr: ['pwd'], authTime: now() }
    const { query } = await open()
    await decide(query, {}, { origin: 'https://client.example.com' })
    expect(clone).not.toHaveBeenCalled()
    await decide(query, { user: 'alice', decision: 'allow' })
    expect(clone).toHaveBeenCalledOnce()
    clone.mockRestore()
  })

  test('shows the login page on the host of the issuer, and sends a code after the sign-in', async () => {
    const { site, open, reopen, decide, now } = await createSite()
    const asked = await open()
    expect(asked).toMatchObject({ status: 303, page: login })
    expect(asked.response.headers.get('cache-control')).toBe('no-store')
    site.user = { sub: 'alice', amr: ['pwd'], authTime: now() }
    const toConsent = await reopen(asked.query)
    expect(toConsent.page).toBe(consent)
    const allowed = await decide(toConsent.query, { user: 'alice', decision: 'allow' })
    expect(allowed).toMatchObject({ page: callback, code: expect.any(String) })
    // The consent is remembered.
    expect(await open()).toMatchObject({ page: callback, code: expect.any(String) })
  })

  test('asks no user for applications of the site', async () => {
    const { site, open, now } = await createSite({ trusted: true })
    site.user = { sub: 'alice', amr: ['pwd'], authTime: now() }
    expect(await open()).toMatchObject({ page: callback, code: expect.any(String) })
  })

  test('sends the refusal of a user to the client', async () => {
    const { site, open, decide, now } = await createSite()
    site.user = { sub: 'alice', amr: ['pwd'], authTime: now() }
    const { query } = await open()
    const denied = await decide(query, { user: 'alice', decision: 'deny' })
    expect(denied).toMatchObject({ page: callback, error: 'access_denied' })
    expect((await open()).page).toBe(consent)
  })

  test.each([
    ['prompt=login', { prompt: 'login' }],
    ['max_age', { max_age: '60' }],
    ['prompt=select_account', { prompt: 'select_account' }],
  ])('asks a user to sign in again for %s, once', async (_what, more) => {
    const { site, open, reopen, clock, now } = await createSite({ trusted: true })
    site.user = { sub: 'alice', amr: ['pwd'], authTime: now() - 100 }
    const asked = await open(more)
    expect(asked.page).toBe(login)
    clock.advance(10)
    site.user = { sub: 'alice', amr: ['pwd'], authTime: now() }
    expect(await reopen(asked.query)).toMatchObject({ page: callback, code: expect.any(String) })
  })

  test.each([
    ['another sub', { id_token: { sub: { value: 'bob' } } }, 'login_required'],
    ['another acr', { id_token: { acr: { essential: true, value: 'gold' } } }, 'unmet_authentication_requirements'],
  ])('sends a user whom the request does not accept to the login page, once: %s', async (_what, claims, error) => {
    const { site, open, reopen, clock, now } = await createSite({ trusted: true })
    site.user = { sub: 'alice', amr: ['pwd'], authTime: now() }
    clock.advance(10)
    const asked = await open({ claims: JSON.stringify(claims) })
    expect(asked.page).toBe(login)
    clock.advance(10)
    site.user = { sub: 'alice', amr: ['pwd'], authTime: now() }
    // Not to the login page again, which would lead here again.
    expect(await reopen(asked.query)).toMatchObject({ page: callback, error })
  })

  test.each([
    ['login_required', undefined],
    ['consent_required', { sub: 'alice', amr: ['pwd'], authTime: 0 }],
  ])('shows no page with prompt=none: %s', async (error, user) => {
    const { site, open } = await createSite()
    site.user = user
    expect(await open({ prompt: 'none' })).toMatchObject({ page: callback, error })
  })

  test('shows the page of the provider for a client that is not known', async () => {
    const { open } = await createSite()
    expect(await open({ client_id: 'unknown' })).toMatchObject({ status: 400, page: 'https://nowhere.example.com/' })
  })

  test.each([
    ['another site as login page', { loginPath: 'https://evil.example.com/', trusted: true }],
    ['another host as login page', { loginPath: '//evil.example.com', trusted: true }],
    ['another host behind a tab, which URLs leave out', { loginPath: '/\t/evil.example.com', trusted: true }],
    ['another host behind a line break', { loginPath: '/\n\\evil.example.com', trusted: true }],
    ['a login page with a query', { loginPath: '/login?a=b', trusted: true }],
    ['no page for consent without a word', { loginPath: '/login' }],
    ['trusted with another value', { loginPath: '/login', trusted: 'no' }],
    ['a page for consent elsewhere', { loginPath: '/login', consentPath: '/\\evil.example.com' }],
  ])('refuses %s', async (_what, options) => {
    const { provider } = await createSite()
    const create = () =>
      authorizeRoute({ provider: async () => provider }, {
        userOf: () => undefined,
        ...options,
      } as AuthorizeRouteOptions)
    expect(create).toThrow(TypeError)
  })
})
