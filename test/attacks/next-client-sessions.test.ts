/**
 * Attack: a session of an application of Next.js outlives its end, or is ended by someone else. The user or the provider signs out
 * while the session is being renewed; a logout token is forged, taken from another purpose, or sent again after a later sign-in;
 * another site signs the user out. And many requests at the same moment use one refresh token: the provider takes that for theft.
 *
 * OpenID Connect Back-Channel Logout 1.0 sections 2.6 and 4; RFC 9700 section 4.14.
 */
import { userSessions } from '@grantry/plugins/authorization-endpoint'
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose'
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { type SignInClientOptions, signInClient } from '../../packages/next/src/client.ts'
import { memorySessions, origin, setUpApplication } from '../next/application.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] })
  vi.spyOn(console, 'error').mockReturnValue()
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

const event = 'http://schemas.openid.net/event/backchannel-logout'
let pair: Awaited<ReturnType<typeof generateKeyPair>>
beforeAll(async () => {
  pair = await generateKeyPair('ES256')
})

/** An application whose provider has a key that the test knows. */
async function setUpSigned(more: Partial<SignInClientOptions> = {}) {
  const f = await setUpApplication()
  const key = { ...(await exportJWK(pair.publicKey)), kid: 'test', alg: 'ES256', use: 'sig' }
  const client = signInClient({
    ...f.options,
    sessions: memorySessions().sessions,
    async fetch(target, init) {
      const response = await f.provider.fetch(new Request(target, init))
      return target.endsWith('/jwks') ? Response.json({ keys: [key] }) : response
    },
    ...more,
  })
  const claims = () => ({
    ...{ iss: f.provider.issuer, aud: 'app', iat: f.clock.now(), exp: f.clock.now() + 120, jti: 'a' },
    ...{ sub: 'alice', events: { [event]: {} } },
  })
  const sign = (changes: object = {}, header: object = {}) =>
    new SignJWT({ ...claims(), ...changes })
      .setProtectedHeader({ alg: 'ES256', kid: 'test', typ: 'logout+jwt', ...header })
      .sign(pair.privateKey)
  const send = async (token: string) => {
    const body = new URLSearchParams({ logout_token: token })
    return (await client.POST(new Request('http://localhost:3000/auth/backchannel', { method: 'POST', body }))).status
  }
  return { ...f, client, claims, sign, send, signIn: () => f.signIn(f.visitor(client)) }
}

describe('a logout token', () => {
  test('control: of the provider ends the session, and no other one', async () => {
    const f = await setUpApplication({ sessions: memorySessions().sessions })
    const { visitor } = await f.signIn()
    const otherVisitor = (await f.signIn(f.visitor(), f.newBrowser())).visitor
    const sid = String((await visitor.session())?.claims.sid)
    await f.provider.use(userSessions).end(sid)
    await f.provider.runTasks()
    expect(f.logoutTokens).toHaveLength(1)
    expect([await visitor.session(), await visitor.accessToken()]).toEqual([undefined, undefined])
    expect(await otherVisitor.session()).toBeDefined()
  })

  test('that is sent again does not end the session of a later sign-in', async () => {
    const f = await setUpSigned()
    const token = await f.sign()
    const former = (await f.signIn()).visitor
    expect([await f.send(token), await former.session()]).toEqual([200, undefined])
    f.advance(1)
    const { visitor } = await f.signIn()
    expect([await f.send(token), await visitor.session()]).toEqual([200, expect.anything()])
  })

  test('that is sent again does not permit what a later one has ended', async () => {
    const f = await setUpSigned()
    const first = await f.sign()
    f.advance(10)
    const { visitor } = await f.signIn()
    f.advance(10)
    expect([await f.send(await f.sign()), await f.send(first)]).toEqual([200, 200])
    expect(await visitor.session()).toBeUndefined()
  })

  const refused: Readonly<Record<string, (f: Awaited<ReturnType<typeof setUpSigned>>) => Promise<string> | string>> = {
    'of another issuer': ({ sign }) => sign({ iss: 'https://evil.example' }),
    'for another client': ({ sign }) => sign({ aud: 'other' }),
    'with a nonce': ({ sign }) => sign({ nonce: 'n' }),
    'without the event': ({ sign }) => sign({ events: undefined }),
    'with another event': ({ sign }) => sign({ events: { 'https://example.com/other': {} } }),
    'with a list of events': ({ sign }) => sign({ events: [event] }),
    'without a user': ({ sign }) => sign({ sub: undefined }),
    'with a user that is no text': ({ sign }) => sign({ sub: 1, sid: 'a' }),
    'without an id': ({ sign }) => sign({ jti: undefined }),
    'without an end': ({ sign }) => sign({ exp: undefined }),
    'that has expired': ({ sign, clock }) => sign({ exp: clock.now() - 61 }),
    'that is a day old': ({ sign, clock }) => sign({ iat: clock.now() - 86_400 }),
    'of another type': ({ sign }) => sign({}, { typ: 'at+jwt' }),
    'without a signature': ({ claims }) => new UnsecuredJWT(claims()).encode(),
    'signed with the secret of the client': ({ claims }) =>
      new SignJWT(claims()).setProtectedHeader({ alg: 'HS256' }).sign(new TextEncoder().encode('app-secret'.repeat(4))),
    'signed with another key': async ({ claims }) =>
      new SignJWT(claims())
        .setProtectedHeader({ alg: 'ES256', kid: 'test' })
        .sign((await generateKeyPair('ES256')).privateKey),
    'that is no token': () => 'x',
    'that is missing': () => '',
  }

  test.each(Object.keys(refused))('%s ends nothing', async (which) => {
    const f = await setUpSigned()
    const { visitor } = await f.signIn()
    expect(await f.send((await refused[which]?.(f)) ?? '')).toBe(400)
    expect(await visitor.session()).toBeDefined()
  })

  test('that is an identity token ends nothing', async () => {
    const f = await setUpApplication({ sessions: memorySessions().sessions })
    const { visitor } = await f.signIn()
    const hint = new URL((await f.visitor().logout()).location).searchParams.get('id_token_hint')
    expect(hint).toBeNull()
    const identityToken = new URL((await visitor.logout()).location).searchParams.get('id_token_hint') ?? ''
    expect(identityToken).not.toBe('')
    const again = (await f.signIn(visitor)).visitor
    expect((await f.send(identityToken)).status).toBe(400)
    expect(await again.session()).toBeDefined()
  })

  test('is sent again by the provider while its keys or the store cannot be read', async () => {
    const { sessions } = memorySessions()
    let isAway = false
    const f = await setUpSigned({
      sessions: {
        ...sessions,
        async set(...more) {
          if (isAway) throw new Error('connect ECONNREFUSED')
          return sessions.set(...more)
        },
      },
    })
    const { visitor } = await f.signIn()
    isAway = true
    expect(await f.send(await f.sign())).toBe(503)
    isAway = false
    expect([await f.send(await f.sign()), await visitor.session()]).toEqual([200, undefined])
  })

  test('without a store is refused, and not acknowledged in vain', async () => {
    const f = await setUpApplication()
    expect((await f.send('x')).status).toBe(501)
  })
})

describe('a logout', () => {
  test.each([
    ['of another site', { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }],
    ['of a sibling site', { origin: 'https://evil.example.com', 'sec-fetch-site': 'same-site' }],
    ['of a page without an origin', { origin: 'null' }],
    ['of a program', {}],
  ])('by a form %s ends nothing', async (_whose, headers) => {
    const f = await setUpApplication()
    const { visitor } = await f.signIn()
    expect((await visitor.logout(headers as { origin: string })).status).toBe(403)
    expect(await visitor.session()).toBeDefined()
  })

  test('ends the session while the provider is away', async () => {
    const f = await setUpApplication({ sessions: memorySessions().sessions })
    const { visitor } = await f.signIn()
    const stolen = new Map(visitor.jar)
    const away = signInClient({ ...f.options, fetch: () => Promise.reject(new TypeError('fetch failed')) })
    const copy = f.visitor(away)
    for (const [name, value] of visitor.jar) copy.jar.set(name, value)
    expect((await copy.logout()).location).toBe(`${origin}/`)
    for (const [name, value] of stolen) copy.jar.set(name, value)
    expect(await copy.session()).toBeUndefined()
  })

  test('is not undone by a refresh that is on its way, also for a copy of the cookie', async () => {
    const f = await setUpApplication({ sessions: memorySessions().sessions })
    const { visitor } = await f.signIn()
    const thief = f.visitor()
    for (const [name, value] of visitor.jar) thief.jar.set(name, value)
    f.advance(3600)
    let arrived = (): void => {}
    let proceed = (): void => {}
    const isWaiting = new Promise<void>((resolve) => (arrived = resolve))
    const released = new Promise<void>((resolve) => (proceed = resolve))
    f.waitWith(() => {
      arrived()
      return released
    })
    const refreshed = thief.accessToken()
    await isWaiting
    await visitor.logout()
    proceed()
    await refreshed
    expect([await thief.session(), await thief.accessToken()]).toEqual([undefined, undefined])
  })
})

describe.each([
  ['cookies', () => ({})],
  ['a store', () => ({ sessions: memorySessions().sessions })],
] as const)('many requests of a session in %s', (_where, more) => {
  test('use a refresh token once', async () => {
    const f = await setUpApplication(more())
    const { visitor } = await f.signIn()
    f.advance(3600)
    let proceed = (): void => {}
    const released = new Promise<void>((resolve) => (proceed = resolve))
    f.waitWith(() => released)
    const former = f.visitor()
    for (const [name, value] of visitor.jar) former.jar.set(name, value)
    // Next.js has a copy of the module for routes and one for pages.
    const copy = signInClient(f.options)
    const asked = Array.from({ length: 20 }, (_, index) =>
      (index % 2 === 0 ? f.client : copy).accessToken(visitor.cookies),
    )
    await expect.poll(f.refreshes).toBe(1)
    proceed()
    expect(new Set(await Promise.all(asked)).size).toBe(1)
    // A request that the browser has sent before it got the new cookies.
    expect(await former.accessToken()).toBe(await visitor.accessToken())
    expect(f.refreshes()).toBe(1)
    f.advance(3600)
    expect(await visitor.accessToken()).toBeDefined()
    expect(f.refreshes()).toBe(2)
  })

  test('try again after the provider was away', async () => {
    const f = await setUpApplication(more())
    const { visitor } = await f.signIn()
    f.advance(3600)
    f.waitWith(() => Promise.reject(new TypeError('fetch failed')))
    const results = await Promise.allSettled([visitor.accessToken(), visitor.accessToken()])
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    f.waitWith(async () => {})
    expect(await visitor.accessToken()).toBeDefined()
  })
})
