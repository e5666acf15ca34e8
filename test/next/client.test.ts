// The sign-in of an application of Next.js, whose users a provider signs in.
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type SignInClientOptions, signInClient } from '../../packages/next/src/client.ts'
import { memorySessions, origin, secret, setUpApplication, url } from './application.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

const places = [
  ['cookies', () => ({})],
  ['a store', () => ({ sessions: memorySessions().sessions })],
] as const

describe.each(places)('a session in %s', (_where, more) => {
  test('begins with a sign-in, and leads back', async () => {
    const f = await setUpApplication(more())
    const { visitor, end } = await f.signIn()
    expect(end).toMatchObject({ status: 303, location: `${origin}/start` })
    expect(await visitor.session()).toMatchObject({ sub: 'alice', claims: { iss: f.provider.issuer, aud: 'app' } })
    const kept = end.response.headers.getSetCookie().filter((cookie) => !cookie.includes('Max-Age=0'))
    expect(kept.length).toBeGreaterThan(0)
    for (const line of kept) {
      expect(line).toMatch(/^__Host-grantry-session[^;]*; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Lax; Secure$/u)
    }
  })

  test('has an access token, which is renewed', async () => {
    const f = await setUpApplication(more())
    const { visitor } = await f.signIn()
    const first = await visitor.accessToken()
    expect(await visitor.accessToken()).toBe(first)
    f.advance(3600)
    const second = await visitor.accessToken()
    expect(second).not.toBe(first)
    expect(await visitor.accessToken()).toBe(second)
    expect(f.refreshes()).toBe(1)
    expect((await f.provider.inspect(second ?? '')).claims).toMatchObject({ sub: 'alice' })
  })

  test('ends with its lifetime', async () => {
    const f = await setUpApplication({ ...more(), lifetime: 60 })
    const { visitor } = await f.signIn()
    f.advance(59)
    expect(await visitor.session()).toBeDefined()
    f.advance(1)
    expect(await visitor.session()).toBeUndefined()
  })

  test('ends here and at the provider with a logout', async () => {
    const f = await setUpApplication(more())
    const { visitor } = await f.signIn()
    const { location, status } = await visitor.logout()
    expect(status).toBe(303)
    expect(location).toMatch(/^https:\/\/id\.example\.com\/connect\/endsession\?/u)
    expect([await visitor.session(), await visitor.accessToken()]).toEqual([undefined, undefined])
    expect((await f.atProvider.open(location)).url.href).toBe(`${origin}/`)
    expect((await f.atProvider.open((await visitor.begin()).location)).html).toContain('sign-in')
  })

  test('is read with a former secret, and written with the new one', async () => {
    const f = await setUpApplication(more())
    const { visitor } = await f.signIn()
    const newer = signInClient({ ...f.options, secrets: ['n'.repeat(32), secret] })
    expect(await newer.session(visitor.cookies)).toMatchObject({ sub: 'alice' })
    const withoutOldSecret = signInClient({ ...f.options, secrets: ['n'.repeat(32)] })
    expect(await withoutOldSecret.session(visitor.cookies)).toBeUndefined()
  })

  test('has no token after the provider has ended the authorization', async () => {
    const f = await setUpApplication(more())
    const { visitor } = await f.signIn()
    await f.provider.revoke({ subject: 'alice' })
    f.advance(3600)
    expect(await visitor.accessToken()).toBeUndefined()
  })
})

test('in a server component, which cannot set cookies, no refresh token is used in vain', async () => {
  const f = await setUpApplication()
  const { visitor } = await f.signIn()
  f.advance(3600)
  const readOnly = {
    get: visitor.cookies.get,
    set() {
      throw new Error('Cookies can only be modified in a Server Action or Route Handler')
    },
  }
  await expect(f.client.accessToken(readOnly)).rejects.toThrow('Cookies can only be modified')
  expect(f.refreshes()).toBe(0)
  expect(await visitor.accessToken()).toBeDefined()
})

test('in a server component, a session in a store is renewed', async () => {
  const f = await setUpApplication({ sessions: memorySessions().sessions })
  const { visitor } = await f.signIn()
  f.advance(3600)
  expect(await f.client.accessToken({ get: visitor.cookies.get, set: () => expect.unreachable() })).toBeDefined()
})

test('a user who denies is sent to the page for failed sign-ins', async () => {
  vi.spyOn(console, 'error').mockReturnValue()
  const f = await setUpApplication({ errorPath: '/failed' })
  const visitor = f.visitor()
  const state = new URL((await visitor.begin()).location).searchParams.get('state')
  const iss = f.provider.issuer
  const end = await visitor.callback(`?${new URLSearchParams({ error: 'access_denied', state: state ?? '', iss })}`)
  expect(end).toMatchObject({ status: 303, location: `${origin}/failed?error=access_denied` })
  expect(await visitor.session()).toBeUndefined()
})

test('a provider that is away is tried again', async () => {
  let isAway = true
  const f = await setUpApplication()
  const client = signInClient({
    ...f.options,
    async fetch(target, init) {
      if (isAway) throw new TypeError('fetch failed')
      return f.provider.fetch(new Request(target, init))
    },
  })
  await expect(f.visitor(client).begin()).rejects.toThrow()
  isAway = false
  expect((await f.visitor(client).begin()).status).toBe(303)
})

test.each([
  [{ issuer: 'http://id.example.com' }, 'issuer must be an https URL, or one of this machine'],
  [{ url: 'http://app.example.com/auth' }, 'url must be an https URL'],
  [{ url: `${url}?a=b` }, 'url must be an https URL'],
  [{ clientId: '' }, 'clientId must be a text'],
  [{ secrets: [] }, 'secrets must be a list'],
  [{ secrets: ['short'] }, 'secrets must be a list of texts with at least 32 characters'],
  [{ secrets: secret as never }, 'secrets must be a list'],
  [{ scopes: ['profile'] }, 'scopes must be a list with openid'],
  [{ lifetime: 1 }, 'lifetime must be at least 60 seconds'],
  [{ afterLogout: 'https://evil.example' }, 'afterLogout must be a path of the site'],
  [{ errorPath: '//evil.example' }, 'errorPath must be a path of the site'],
] as const)('the options %j are refused', (more, message) => {
  const options: SignInClientOptions = { issuer: 'https://id.example.com', clientId: 'app', url, secrets: [secret] }
  expect(() => signInClient({ ...options, ...more } as SignInClientOptions)).toThrow(`signInClient(): ${message}`)
})
