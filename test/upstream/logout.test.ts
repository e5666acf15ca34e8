import { describe, expect, test } from 'vitest'
import { nameOf } from '../sign-in/parties.ts'
import { realNow } from './openid-double.ts'
import { accountAs, setUpUpstream, type UpstreamSetting } from './parties.ts'

const event = 'http://schemas.openid.net/event/backchannel-logout'

async function setUpLogout(more: UpstreamSetting = {}) {
  const f = await setUpUpstream({ double: { claims: { sid: 'upstream-session' } }, ...more })
  const away = await f.leave()
  await f.comeBack(away)
  const claims = (more: Readonly<Record<string, unknown>> = {}) => ({
    iss: f.double.issuer,
    aud: f.double.clientId,
    iat: realNow(),
    exp: realNow() + 120,
    jti: 'logout-1',
    events: { [event]: {} },
    sub: 'upstream-alice',
    ...more,
  })
  async function send(content: Readonly<Record<string, unknown>>): Promise<number> {
    const present = Object.fromEntries(Object.entries(content).filter(([, value]) => value !== undefined))
    const token = await f.double.sign(present)
    const url = 'https://id.example.com/connect/upstream/acme/logout'
    const init = { method: 'POST', body: new URLSearchParams({ logout_token: token }) }
    return (await f.provider.fetch(new Request(url, init), { clientAddress: '192.0.2.9' })).status
  }
  const isSignedIn = async () => nameOf((await f.start({}, away.browser)).page) === 'consent'
  return { ...f, claims, send, isSignedIn }
}

describe('a logout token of a provider', () => {
  test.each([
    ['the user', {}],
    ['the session', { sub: undefined, sid: 'upstream-session' }],
    // Such as one of Microsoft Entra ID, whose users are known by `oid`.
    ['the session, and the user in another way', { sub: 'pairwise', sid: 'upstream-session' }],
  ])('18.14 that names %s ends the sessions from there, once', async (_name, more) => {
    const f = await setUpLogout()
    expect(await f.isSignedIn()).toBe(true)
    const token = f.claims(more)
    expect(await f.send(token)).toBe(200)
    expect(await f.isSignedIn()).toBe(false)
    expect(await f.send(token)).toBe(400)
  })

  test('18.7 with another algorithm than the configuration names ends no session', async () => {
    const f = await setUpLogout({
      provider: { algorithms: ['ES256'] },
      double: { claims: { sid: 'upstream-session' } },
    })
    expect(await f.send(f.claims())).toBe(400)
  })

  test.each([
    ['of another user', { sub: 'upstream-bob' }, 200],
    ['of another session', { sub: undefined, sid: 'another' }, 200],
    ['without the event', { events: {} }, 400],
    ['with a nonce, as an identity token', { nonce: 'n' }, 400],
    ['for another client', { aud: 'another' }, 400],
    ['of another provider', { iss: 'https://evil.example.com' }, 400],
    ['without an id', { jti: undefined }, 400],
    ['that is old', { iat: realNow() - 4000 }, 400],
    ['that names no user', { sub: undefined }, 400],
  ])('18.14 %s ends no session', async (_name, more, status) => {
    const f = await setUpLogout()
    expect(await f.send(f.claims(more))).toBe(status)
    expect(await f.isSignedIn()).toBe(true)
  })

  test('18.14 counts in a form only, not in a URL', async () => {
    const f = await setUpLogout()
    const token = await f.double.sign(f.claims())
    const url = `https://id.example.com/connect/upstream/acme/logout?${new URLSearchParams({ logout_token: token })}`
    expect((await f.provider.fetch(new Request(url), { clientAddress: '192.0.2.9' })).status).toBe(404)
    expect(await f.isSignedIn()).toBe(true)
  })

  test('18.14 that could not end the sessions can be sent again', async () => {
    let isDown = true
    const onSessionEnd = async () => {
      if (isDown) throw new Error('the process dies')
      return undefined
    }
    const f = await setUpLogout({ endpoint: () => ({ features: [{ parts: () => [], onSessionEnd }] }) })
    const token = f.claims()
    expect(await f.send(token)).toBe(500)
    expect(await f.isSignedIn()).toBe(true)
    isDown = false
    expect(await f.send(token)).toBe(200)
    expect(await f.isSignedIn()).toBe(false)
    expect(await f.send(token)).toBe(400)
  })

  test('18.14 leaves the sessions of a password', async () => {
    const f = await setUpLogout()
    const { browser, enter } = await f.start()
    await enter('alice')
    expect(await f.send(f.claims({ sub: 'alice' }))).toBe(200)
    expect(nameOf((await f.start({}, browser)).page)).toBe('consent')
  })

  test('18.14 of a linked account leaves the sessions of a password', async () => {
    const f = await setUpLogout()
    f.double.set({ claims: { sub: 'linked-alice', sid: 'another-session' } })
    const alice = await accountAs(f, 'alice')
    expect(await alice.link()).toBe('linked')
    const away = await f.leave()
    expect(nameOf(await f.comeBack(away))).toBe('consent')
    expect(await f.send(f.claims({ sub: 'linked-alice' }))).toBe(200)
    expect(nameOf((await f.start({}, away.browser)).page)).toBe('signIn')
    expect(nameOf((await f.start({}, alice.browser)).page)).toBe('consent')
  })
})
