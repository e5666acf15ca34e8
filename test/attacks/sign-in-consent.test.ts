/**
 * Attack: a client gets more than the user has consented to, or the consent of another user; or an application that
 * impersonates a client uses the consent that the user gave to the real one.
 *
 * RFC 6749 sections 10.2 and 10.12; RFC 8252 section 8.6.
 */
import type { ClientOptions } from '@grantry/core'
import { decodeJwt } from '@grantry/core'
import { describe, expect, test } from 'vitest'
import { answer, hiddenFields } from '../authorization/browser.ts'
import { challenge, clients, redirectUri } from '../authorization/parties.ts'
import { nameOf, setUpSignIn } from '../sign-in/parties.ts'

type Started = Awaited<ReturnType<Awaited<ReturnType<typeof setUpSignIn>>['start']>>

const allow = { decision: 'allow' }
const scopesOn = ({ html }: { readonly html: string }) =>
  [...(/"scopes":(\[[^\]]*\])/u.exec(html)?.[1] ?? '').matchAll(/"name":"(\w+)"/gu)].map(([, name]) => name)
const consentOf = async ({ enter, submit }: Started, user = 'alice') => submit('consent', allow, await enter(user))

describe('a client', () => {
  test('gets the scopes of the page that the user has seen, whatever the form contains', async () => {
    const { start, redeem } = await setUpSignIn()
    const { enter, submit } = await start({ scope: 'openid' })
    const more = { scope: 'openid api1 offline_access', scopes: 'api1', claims: '{"userinfo":{"email":null}}' }
    const end = await submit('consent', { ...allow, ...more }, await enter('alice'))
    expect((await redeem(answer(end).code)).body.scope).toBe('openid')
  })

  test('does not get the scopes of one page by the form of another', async () => {
    const { start, browser, redeem } = await setUpSignIn()
    const sameBrowser = browser()
    const small = await start({ scope: 'openid' }, sameBrowser)
    const page = await small.enter('alice')
    const { page: large, submit } = await start({ scope: 'openid api1 offline_access' }, sameBrowser)
    expect(scopesOn(page)).toEqual(['openid'])
    const { form_token = '' } = hiddenFields(page)
    const crossed = await submit('consent', { ...allow, form_token }, large)
    expect(nameOf(crossed)).toBe('consent')
    expect(scopesOn(crossed)).toEqual(['openid', 'api1', 'offline_access'])
    const end = await small.submit('consent', allow, page)
    expect((await redeem(answer(end).code)).body.scope).toBe('openid')
  })

  test.each([
    ['a scope', { scope: 'openid api1 profile' }],
    ['offline access', { scope: 'openid api1 offline_access' }],
    ['a claim', { claims: '{"userinfo":{"email":null}}' }],
    ['a claim in the identity token', { claims: '{"id_token":{"email":{"essential":true}}}' }],
  ])('that asks for %s more than before is not answered by the remembered consent', async (_name, more) => {
    const { start } = await setUpSignIn()
    const first = await start()
    await consentOf(first)
    expect(answer((await start({ prompt: 'none' }, first.browser)).page)).toHaveProperty('code')
    expect(answer((await start({ prompt: 'none', ...more }, first.browser)).page).error).toBe('consent_required')
    expect(nameOf((await start(more, first.browser)).page)).toBe('consent')
  })

  test('does not get the consent that was given to another', async () => {
    const otherClient: ClientOptions = { ...clients[0], clientId: 'other' }
    const { start } = await setUpSignIn({}, { clients: [...clients, otherClient] })
    const first = await start()
    await consentOf(first)
    expect(nameOf((await start({ client_id: 'other' }, first.browser)).page)).toBe('consent')
  })

  test('gets no code for a consent that was denied, or is older than its lifetime', async () => {
    const { start, clock } = await setUpSignIn({}, {}, { consentLifetime: 60 })
    const first = await start()
    await first.submit('consent', { decision: 'deny' }, await first.enter('alice'))
    const second = await start({}, first.browser)
    expect(nameOf(second.page)).toBe('consent')
    await second.submit('consent', allow)
    expect(answer((await start({}, first.browser)).page)).toHaveProperty('code')
    clock.advance(60)
    expect(nameOf((await start({}, first.browser)).page)).toBe('consent')
  })

  test.each([
    ['deny', 'allow'],
    ['allow', 'deny'],
  ])(
    'that is denied and allowed at the same time leaves no consent unless the consent counts: %s first',
    async (...decisions) => {
      const { start } = await setUpSignIn()
      const first = await start()
      const page = await first.enter('alice')
      const ends = await Promise.all(decisions.map((decision) => first.submit('consent', { decision }, page)))
      const isAllowed = ends.some((end) => 'code' in answer(end))
      const expected = isAllowed ? { code: expect.any(String) } : { error: 'consent_required' }
      expect(ends.filter((end) => 'code' in answer(end) || answer(end).error === 'access_denied')).toHaveLength(1)
      expect(answer((await start({ prompt: 'none' }, first.browser)).page)).toMatchObject(expected)
    },
  )

  test('gets no code for a consent that the request did not accept, now or later', async () => {
    const { start } = await setUpSignIn()
    const first = await start()
    const page = await first.enter('alice')
    await first.submit('consent', { decision: 'deny' }, page)
    const late = await first.submit('consent', allow, page)
    expect(answer(late)).not.toHaveProperty('code')
    expect(answer((await start({ prompt: 'none' }, first.browser)).page).error).toBe('consent_required')
  })

  test('that asks for a new consent gets no remembered one', async () => {
    const { start } = await setUpSignIn()
    const first = await start()
    await consentOf(first)
    expect(nameOf((await start({ prompt: 'consent' }, first.browser)).page)).toBe('consent')
  })
})

test('a consent that was given with a stolen password does not remain after a revocation of the user', async () => {
  const { start, provider } = await setUpSignIn()
  await consentOf(await start())
  await provider.revoke({ subject: 'alice' })
  const again = await start()
  const page = await again.enter('alice')
  expect(nameOf(page)).toBe('consent')
  await again.submit('consent', allow, page)
  expect(answer((await start({}, again.browser)).page)).toHaveProperty('code')
})

describe('another user in the same browser', () => {
  test('does not give the consent that was shown to the first', async () => {
    const { start, redeem } = await setUpSignIn()
    const ofAlice = await start()
    const page = await ofAlice.enter('alice')
    const ofBob = await start({ prompt: 'login' }, ofAlice.browser)
    await ofBob.enter('bob')
    const late = await ofAlice.submit('consent', allow, page)
    expect(nameOf(late)).toBe('consent')
    expect(late.html).toContain('"subjectName":"bob"')
    const { body } = await redeem(answer(await ofAlice.submit('consent', allow, late)).code)
    expect(decodeJwt(body.id_token)?.claims.sub).toBe('bob')
  })

  test('is asked, although the first has consented', async () => {
    const { start } = await setUpSignIn()
    const first = await start()
    await consentOf(first)
    const again = await start({ prompt: 'login' }, first.browser)
    expect(nameOf(await again.enter('bob'))).toBe('consent')
  })
})

describe('an application that impersonates a native one', () => {
  const native = { client_id: 'spa', code_challenge: challenge, code_challenge_method: 'S256' }

  test.each([
    ['a private-use scheme', 'com.example.app:/callback'],
    ['another port of the machine', 'http://127.0.0.1:51004/callback'],
  ])('gets no code by the consent that the user gave to the real one: %s', async (_name, uri) => {
    const { start } = await setUpSignIn()
    const parameters = { ...native, redirect_uri: uri }
    const first = await start(parameters)
    expect((await consentOf(first)).url.searchParams.has('code')).toBe(true)
    const silent = await start({ ...parameters, prompt: 'none' }, first.browser)
    expect(silent.page.url.searchParams.get('error')).toBe('consent_required')
    expect(nameOf((await start(parameters, first.browser)).page)).toBe('consent')
  })

  test('is distinguished from one whose redirect URI proves its host, or that has a secret', async () => {
    const [web, ...others] = clients
    const { start } = await setUpSignIn(
      {},
      {
        clients: [
          { ...web, clientId: 'web', redirectUris: [redirectUri, 'http://127.0.0.1/callback'] },
          ...others,
          {
            clientId: 'page',
            public: true,
            grantTypes: ['authorization_code'],
            scopes: ['openid', 'api1'],
            redirectUris: [redirectUri],
          },
        ],
      },
    )
    for (const parameters of [{ ...native, client_id: 'page' }, { redirect_uri: 'http://127.0.0.1/callback' }]) {
      const first = await start(parameters)
      await consentOf(first)
      const { page } = await start({ ...parameters, prompt: 'none' }, first.browser)
      expect(page.url.searchParams.has('code')).toBe(true)
    }
  })
})

describe('a client that changes while the user decides', () => {
  test.each<[string, Partial<ClientOptions>, string]>([
    ['is disabled', { enabled: false }, 'error'],
    ['loses the redirect URI', { redirectUris: ['https://client.example.com/new'] }, 'error'],
    ['loses the grant type', { grantTypes: ['refresh_token'] }, 'error'],
  ])('gets no code when it %s', async (_name, change, expected) => {
    let current: ClientOptions = { ...clients[0], clientId: 'web' }
    const { start } = await setUpSignIn({}, { clients: { find: (id) => (id === 'web' ? current : undefined) } })
    const { enter, submit, page } = await start()
    const consent = await enter('alice')
    current = { ...current, ...change }
    for (const [path, form, of] of [
      ['consent', allow, consent],
      ['consent', { decision: 'deny' }, consent],
      ['signin', { username: 'alice', password: 'alice-password' }, page],
    ] as const) {
      const end = await submit(path, form, of)
      expect([end.status, end.headers.get('location'), nameOf(end)]).toEqual([400, null, expected])
    }
  })
})

test('a client that gets a scope while the user decides does not get it by a page that has not shown it', async () => {
  let current: ClientOptions = { ...clients[0], clientId: 'web', scopes: ['openid', 'api1'] }
  const { start, redeem } = await setUpSignIn({}, { clients: { find: (id) => (id === 'web' ? current : undefined) } })
  const { enter, submit } = await start({ scope: 'openid api1 profile' })
  const page = await enter('alice')
  expect(scopesOn(page)).toEqual(['openid', 'api1'])
  current = { ...current, scopes: ['openid', 'profile'] }
  const end = await submit('consent', allow, page)
  expect((await redeem(answer(end).code)).body.scope).toBe('openid')
})

describe('the page that asks', () => {
  test.each(['nothing. Your account is locked, call +1 555 0100', 'a\nb', 'name\u202Ekcol', '\u00a0'])(
    'shows no sentence that a link contains as a claim: %j',
    async (text) => {
      const { start } = await setUpSignIn()
      const claims = JSON.stringify({ userinfo: { [text]: null, email: null }, id_token: { [text]: null } })
      const { enter } = await start({ claims })
      expect((await enter('alice')).html).toContain('"claims":["email"]')
    },
  )
})
