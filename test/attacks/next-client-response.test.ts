/**
 * Attack: someone sends the browser of a user of an application to the callback of its sign-in with a response that belongs to
 * another sign-in: the account of the attacker, a stolen code, a response of another provider. Or the address to which the
 * application redirects afterwards leads to another site.
 *
 * RFC 6749 section 10.12; RFC 9207; RFC 9700 sections 2.1.1, 4.4, 4.5 and 4.11.1; OpenID Connect Core section 15.5.2.
 */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { signInClient } from '../../packages/next/src/client.ts'
import { memorySessions, origin, setUpApplication } from '../next/application.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] })
  vi.spyOn(console, 'error').mockReturnValue()
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

type Application = Awaited<ReturnType<typeof setUpApplication>>

/** Returns a sign-in that the user has begun, and the response of the provider to it. */
async function begun(f: Application) {
  const visitor = f.visitor()
  const { location } = await visitor.begin('/start')
  return { visitor, location, query: await f.approve(location) }
}
const changed = (query: string, name: string, value: string | undefined): string => {
  const parameters = new URLSearchParams(query)
  if (value === undefined) parameters.delete(name)
  else parameters.set(name, value)
  return `?${parameters}`
}
const codes = ({ requests }: Application) => requests.filter(({ form }) => form.has('code')).length

describe('a response', () => {
  test('control: of this sign-in begins a session', async () => {
    const f = await setUpApplication()
    const { visitor, query } = await begun(f)
    expect((await visitor.callback(query)).location).toBe(`${origin}/start`)
    expect(await visitor.session()).toBeDefined()
  })

  test('of a sign-in that the attacker has begun begins no session, and uses no code', async () => {
    const f = await setUpApplication()
    const [victim, attacker] = [await begun(f), await begun(f)]
    expect((await victim.visitor.callback(attacker.query)).status).toBe(400)
    expect(await f.visitor().callback(attacker.query)).toMatchObject({ status: 400 })
    expect([await victim.visitor.session(), codes(f)]).toEqual([undefined, 0])
    // The user's own sign-in is not ended by that.
    expect((await victim.visitor.callback(victim.query)).status).toBe(303)
  })

  test.each([
    ['without a state', 'state', undefined],
    ['with another state', 'state', 'x'],
    ['of another provider', 'iss', 'https://evil.example'],
    ['without its provider', 'iss', undefined],
  ])('%s begins no session, and uses no code', async (_which, name, value) => {
    const f = await setUpApplication()
    const { visitor, query } = await begun(f)
    expect((await visitor.callback(changed(query, name, value))).status).toBe(400)
    expect([await visitor.session(), codes(f)]).toEqual([undefined, 0])
  })

  test('with the code of another sign-in begins no session: PKCE', async () => {
    const f = await setUpApplication()
    const [victim, attacker] = [await begun(f), await begun(f)]
    const code = new URLSearchParams(victim.query).get('code') ?? ''
    expect((await attacker.visitor.callback(changed(attacker.query, 'code', code))).status).toBe(400)
    expect([await attacker.visitor.session(), codes(f)]).toEqual([undefined, 1])
  })

  test('with an identity token of another sign-in begins no session: nonce', async () => {
    const f = await setUpApplication()
    let stolen: string | undefined
    const client = signInClient({
      ...f.options,
      async fetch(target, init) {
        const response = await f.provider.fetch(new Request(target, init))
        if (!target.endsWith('/token')) return response
        const tokens = await response.json()
        stolen ??= tokens.id_token
        return Response.json({ ...tokens, id_token: stolen })
      },
    })
    expect((await f.signIn(f.visitor(client))).end.status).toBe(303)
    const visitor = f.visitor(client)
    const end = await visitor.callback(await f.approve((await visitor.begin()).location))
    expect(end.status).toBe(400)
    expect(await visitor.session()).toBeUndefined()
  })

  test('begins one session, and is refused the second time', async () => {
    const f = await setUpApplication()
    const { visitor, query } = await begun(f)
    await visitor.callback(query)
    expect((await visitor.callback(query)).status).toBe(400)
    expect(codes(f)).toBe(1)
  })

  test('of a sign-in in another tab is refused after a later one has begun, which still counts', async () => {
    const f = await setUpApplication()
    const { visitor, query } = await begun(f)
    const later = await f.approve((await visitor.begin('/later')).location)
    expect((await visitor.callback(query)).status).toBe(400)
    expect((await visitor.callback(later)).location).toBe(`${origin}/later`)
  })

  test('is refused after half an hour', async () => {
    const f = await setUpApplication()
    const { visitor, query } = await begun(f)
    f.advance(1800)
    expect((await visitor.callback(query)).status).toBe(400)
  })

  test('leaves no code, state or verifier in the log', async () => {
    const log = vi.spyOn(console, 'error').mockReturnValue()
    const f = await setUpApplication()
    const { visitor, query } = await begun(f)
    await visitor.callback(changed(query, 'iss', 'https://evil.example'))
    const second = await begun(f)
    f.waitWith(() => Promise.reject(new TypeError('fetch failed')))
    await second.visitor.callback(second.query)
    const verifiers = f.requests.flatMap(({ form }) => form.get('code_verifier') ?? [])
    const parameters = [query, second.query].map((text) => new URLSearchParams(text))
    const secrets = [...parameters.flatMap((each) => [each.get('code'), each.get('state')]), ...verifiers]
    expect([log.mock.calls.length, secrets.length]).toEqual([2, 5])
    const written = JSON.stringify(log.mock.calls)
    for (const secret of secrets) expect(written).not.toContain(secret)
  })
})

test.each([
  ['https://evil.example/', '/'],
  ['//evil.example', '/'],
  ['/\\evil.example', '/'],
  ['/\t/evil.example', '/'],
  ['\\/evil.example', '/'],
  ['/..//evil.example', '/'],
  ['/a/../..//evil.example', '/'],
  ['javascript:alert(1)', '/'],
  ['@evil.example', '/'],
  [`${origin}.evil.example`, '/'],
  ['/a?b=//evil.example#c', '/a?b=//evil.example#c'],
])('the address after the sign-in stays on the site: %j', async (returnTo, path) => {
  const f = await setUpApplication()
  const visitor = f.visitor()
  const end = await visitor.callback(await f.approve((await visitor.begin(returnTo)).location))
  expect(end.location).toBe(origin + path)
})

describe('a session', () => {
  test('gets a new id at each sign-in, and the former one ends: no one else can have fixed it', async () => {
    const f = await setUpApplication({ sessions: memorySessions().sessions })
    const attacker = (await f.signIn()).visitor
    const fixed = new Map(attacker.jar)
    const victim = f.visitor()
    for (const [name, value] of fixed) victim.jar.set(name, value)
    await f.signIn(victim)
    expect([await victim.session(), await attacker.session()]).toEqual([expect.anything(), undefined])
  })

  test.each([
    ['another client', { clientId: 'other' }],
    ['another issuer', { issuer: 'https://other.example.com' }],
    ['another application', { url: 'https://other.example.com/auth' }],
    ['another secret', { secrets: ['t'.repeat(32)] }],
  ])('is not that of %s with the same cookie', async (_which, more) => {
    const f = await setUpApplication()
    const { visitor } = await f.signIn()
    const otherClient = signInClient({ ...f.options, ...more })
    expect([await otherClient.session(visitor.cookies), await otherClient.accessToken(visitor.cookies)]).toEqual([
      undefined,
      undefined,
    ])
  })

  test('does not count as a sign-in that has begun, nor the other way round', async () => {
    const f = await setUpApplication()
    const { visitor } = await f.signIn()
    const { location } = await visitor.begin()
    const [session, flow] = [visitor.jar.get('__Host-grantry-session'), visitor.jar.get('__Host-grantry-sign-in')]
    visitor.jar.set('__Host-grantry-session', flow ?? '').set('__Host-grantry-sign-in', session ?? '')
    expect(await visitor.session()).toBeUndefined()
    expect((await visitor.callback(await f.approve(location))).status).toBe(400)
  })

  test('is encrypted in its cookie, and ends when the cookie is changed', async () => {
    const f = await setUpApplication()
    const { visitor } = await f.signIn()
    const name = '__Host-grantry-session'
    const value = visitor.jar.get(name) ?? ''
    expect(atob(value.split('.')[0] ?? '')).toBe('{"alg":"dir","enc":"A256GCM"}')
    // Not the last one, which has bits that belong to no byte.
    for (const at of [40, value.length - 2]) {
      visitor.jar.set(name, `${value.slice(0, at)}${value[at] === 'A' ? 'B' : 'A'}${value.slice(at + 1)}`)
      expect(await visitor.session()).toBeUndefined()
    }
  })
})
