import { createTestClock, mapDriver } from '@grantry/testing'
import { createLocalJWKSet, decodeJwt, jwtVerify } from 'jose'
import { expect, test } from 'vitest'
import { answer } from '../authorization/browser.ts'
import { bye, kindOf, clients as plainClients, setUpLogout } from '../end-session/parties.ts'
import { privateKeyFor } from '../support/keys.ts'
import { kitOf } from '../support/kit-of.ts'
import { clients, logoutUri, setUpNotified } from './parties.ts'

const eventName = 'http://schemas.openid.net/event/backchannel-logout'

test('14.1 discovery announces the logout, with sessions', async () => {
  const { provider } = await setUpNotified()
  expect(provider.metadata).toMatchObject({
    backchannel_logout_supported: true,
    backchannel_logout_session_supported: true,
    end_session_endpoint: 'https://id.example.com/connect/endsession',
  })
})

test('14.2 the end of a session sends a logout token to its client, and the browser returns with the state', async () => {
  const { signedIn, logout, received, isSignedIn } = await setUpNotified()
  const { browser, hint } = await signedIn()
  const page = await logout(browser, { id_token_hint: hint, post_logout_redirect_uri: bye, state: 's' })
  expect(answer(page)).toEqual({ state: 's' })
  expect(await isSignedIn(browser)).toBe(false)
  expect(received.map(({ url, init }) => [init.method, url])).toEqual([['POST', logoutUri]])
  expect([...(received[0]?.form.keys() ?? [])]).toEqual(['logout_token'])
  const contentType = new Request(logoutUri, received[0]?.init).headers.get('content-type')
  expect(contentType).toMatch(/^application\/x-www-form-urlencoded/u)
})

test('14.3 the token has exactly the claims of a logout token, with the sub and sid of the identity token', async () => {
  const { provider, signedIn, logout, clock, tokens } = await setUpNotified()
  const { browser, hint } = await signedIn()
  await logout(browser, { id_token_hint: hint })
  const keys = await (await provider.handlers.jwks(new Request('https://id.example.com/jwks'))).json()
  const { payload, protectedHeader } = await jwtVerify(tokens()[0] ?? '', createLocalJWKSet(keys), {
    typ: 'logout+jwt',
    issuer: provider.issuer,
    audience: 'web',
    currentDate: new Date(clock.now() * 1000),
  })
  const { sub, sid } = decodeJwt(hint)
  expect(payload).toEqual({
    iss: provider.issuer,
    aud: 'web',
    iat: clock.now(),
    exp: clock.now() + 120,
    jti: expect.stringMatching(/^[\w-]{43}$/u),
    events: { [eventName]: {} },
    sub,
    sid,
  })
  expect(protectedHeader.kid).toBeTypeOf('string')
})

test('14.3 it is signed with the algorithm of the identity tokens of the client', async () => {
  const keys = [await privateKeyFor('ES256'), await privateKeyFor('RS256'), await privateKeyFor('EdDSA')]
  const varied = clients.map((client) => ({
    ...client,
    ...(client.clientId === 'shop' && { identityTokenAlgorithm: 'EdDSA' as const }),
  }))
  const { signedIn, visit, logout, headers, claims } = await setUpNotified({}, { keys, clients: varied })
  const { browser, hint } = await signedIn()
  await visit(browser, 'shop')
  await logout(browser, { id_token_hint: hint })
  const algorithms = headers().map(({ alg }, index) => [claims()[index]?.aud, alg])
  expect(Object.fromEntries(algorithms)).toEqual({ web: 'RS256', shop: 'EdDSA' })
})

test('14.3 no two tokens have the same jti', async () => {
  const { signedIn, visit, logout, claims } = await setUpNotified()
  const { browser, hint } = await signedIn()
  await visit(browser, 'shop')
  await logout(browser, { id_token_hint: hint })
  expect(new Set(claims().map(({ jti }) => jti)).size).toBe(2)
})

test('14.3 the provider does not accept it as a token of another kind', async () => {
  const { provider, signedIn, logout, tokens, get } = await setUpNotified()
  const first = await signedIn()
  await logout(first.browser, { id_token_hint: first.hint })
  const [token = ''] = tokens()
  expect((await provider.inspect(token)).valid).toBe(false)
  expect((await get('userinfo', {}, { authorization: `Bearer ${token}` })).status).toBe(401)
  const second = await signedIn()
  expect(kindOf(await logout(second.browser, { id_token_hint: token }))).toBe('error')
})

test('14.4 each client of the session is notified once; others are not', async () => {
  const { signedIn, visit, logout, received, claims } = await setUpNotified()
  const bob = await signedIn('bob')
  const { browser, hint } = await signedIn('alice')
  for (const clientId of ['shop', 'silent', 'shop']) expect(await visit(browser, clientId)).toHaveProperty('code')
  await logout(browser, { id_token_hint: hint })
  expect(received.map(({ url }) => url).sort()).toEqual([logoutUri, 'https://shop.example.com/logout?tenant=1'])
  expect(new Set(claims().map(({ sub }) => sub))).toEqual(new Set(['alice']))
  await logout(bob.browser, { id_token_hint: bob.hint })
  expect(claims().at(-1)).toMatchObject({ sub: 'bob', aud: 'web' })
  expect(received).toHaveLength(3)
})

test('14.4 identity tokens of clients that are notified name the session', async () => {
  const { signedIn, visit, redeem } = await setUpNotified()
  const { browser } = await signedIn()
  const tokenOf = async (clientId: string) => {
    const { code } = await visit(browser, clientId)
    return decodeJwt((await redeem(code, [clientId, 'web-secret'])).body.id_token)
  }
  expect(await tokenOf('shop')).toHaveProperty('sid')
  expect(await tokenOf('silent')).not.toHaveProperty('sid')
})

test('14.4 a confirmed logout, and the sign-in of another user, notify too', async () => {
  const { signedIn, signIn, ask, submit, logout, decide, claims } = await setUpNotified()
  const { browser } = await signedIn('alice')
  await decide(browser, await logout(browser), 'logout')
  expect(claims()).toMatchObject([{ sub: 'alice' }])
  await signIn(browser, 'alice')
  await submit(browser, await ask(browser, { prompt: 'login' }), { username: 'bob' })
  expect(claims()).toMatchObject([{ sub: 'alice' }, { sub: 'alice' }])
})

test('14.4 clients of more than 32 are all notified', async () => {
  const many = Array.from({ length: 40 }, (_, index) => ({
    clientId: `client-${index}`,
    public: false,
    secrets: clients[0]?.secrets ?? [],
    grantTypes: ['authorization_code'],
    scopes: ['openid', 'api1'],
    redirectUris: clients[0]?.redirectUris ?? [],
    backchannelLogoutUri: `https://client-${index}.example.com/logout`,
  }))
  const { signedIn, visit, logout, received } = await setUpNotified({}, { clients: [...clients, ...many] })
  const { browser, hint } = await signedIn()
  for (const { clientId } of many) await visit(browser, clientId)
  await logout(browser, { id_token_hint: hint })
  expect(new Set(received.map(({ url }) => url)).size).toBe(41)
})

test('14.4 a user who signs in again keeps the session, and its clients are notified at its end', async () => {
  const { signedIn, visit, ask, submit, clock, received } = await setUpNotified()
  const { browser } = await signedIn()
  await visit(browser, 'shop')
  for (let hour = 0; hour < 9; hour += 1) {
    clock.advance(3500)
    await visit(browser, 'silent')
  }
  await submit(browser, await ask(browser, { prompt: 'login' }), { username: 'alice' })
  for (let hour = 0; hour < 5; hour += 1) {
    clock.advance(3500)
    await visit(browser, 'silent')
  }
  const { code } = answer(await ask(browser))
  expect(code).toBeDefined()
  expect(received).toEqual([])
  await submit(browser, await ask(browser, { prompt: 'login' }), { username: 'bob' })
  expect(received.map(({ url }) => url).sort()).toEqual([logoutUri, 'https://shop.example.com/logout?tenant=1'])
})

test('14.4 no code is sent for a session that ends at the same time', async () => {
  const { provider, signedIn, visit, logout } = await setUpNotified()
  const { browser, hint } = await signedIn()
  const sid = String(decodeJwt(hint).sid)
  const kit = kitOf(provider, 'authorization-endpoint')
  // What the end of the session does first.
  await kit.records.put(`ended:${sid}`, true, kit.now() + 60)
  expect(await visit(browser, 'shop')).toMatchObject({ error: 'login_required' })
  await logout(browser, { id_token_hint: hint })
})

test('14.4 a session without such clients costs an authorization one read, and its end two operations', async () => {
  const clock = createTestClock()
  const inner = mapDriver(new Map(), clock.now)
  let operations = 0
  const counted = <A extends readonly unknown[], R>(act: (...args: A) => R) => {
    return (...args: A): R => {
      operations += 1
      return act(...args)
    }
  }
  const storage = {
    ...inner,
    getItem: counted(inner.getItem),
    setItem: counted(inner.setItem ?? (() => {})),
    insertItem: counted(inner.insertItem),
  }
  const more = { storage, clients: plainClients, runtime: { now: clock.now } }
  const measured: number[][] = []
  for (const f of [await setUpLogout(more), await setUpNotified({}, more)]) {
    const browser = f.browser()
    await f.signIn(browser)
    operations = 0
    await f.ask(browser)
    const authorizing = operations
    operations = 0
    await f.decide(browser, await f.logout(browser), 'logout')
    measured.push([authorizing, operations])
  }
  const [[authorizing = 0, ending = 0] = [], withTokens] = measured
  expect(withTokens).toEqual([authorizing + 1, ending + 2])
})
