// The attacker has a session of a user, or makes the browser of a user finish a link that the attacker has begun, and
// wants a lasting way in: an account at a provider that is linked to the user.
import { userSessions } from '@grantry/plugins/authorization-endpoint'
import { describe, expect, test } from 'vitest'
import { nameOf } from '../sign-in/parties.ts'
import { accountAs, accountUrl, setUpUpstream } from '../upstream/parties.ts'

describe('a link to an account at another provider', () => {
  test('18.12 is not possible with a session whose user has signed in long ago', async () => {
    const f = await setUpUpstream()
    const account = await accountAs(f, 'alice')
    f.skip(601)
    expect((await account.leave()).html).toContain('outdated')
    expect(f.double.requests).toEqual([])
  })

  // The browser can be at the provider for half an hour.
  test('18.12 is not made when the sign-in has become old meanwhile', async () => {
    const f = await setUpUpstream()
    const account = await accountAs(f, 'alice')
    f.skip(590)
    const { url } = await account.leave()
    f.skip(11)
    expect(await account.comeBack(url)).toBe('failed')
    expect(f.double.countOf('/token')).toBe(0)
    expect(await account.list()).toEqual([])
    expect(f.failures()).toEqual(['link_outdated'])
  })

  test.each([
    ['before the provider responds', 'before'],
    ['while it responds', 'meanwhile'],
  ])('18.12 is not kept for a user who is deactivated %s', async (_name, when) => {
    const inactive = new Set<string>()
    const deactivate = () => inactive.add('alice')
    const f = await setUpUpstream({
      double: {
        async signToken(claims, key) {
          if (when === 'meanwhile') deactivate()
          return key.sign(claims, { alg: 'RS256' })
        },
      },
      more: { users: { authenticate: ({ username }) => ({ sub: username }), isActive: (sub) => !inactive.has(sub) } },
    })
    const account = await accountAs(f, 'alice')
    const { url } = await account.leave()
    if (when === 'before') deactivate()
    expect(await account.comeBack(url)).not.toBe('linked')
    inactive.clear()
    expect(await account.list()).toEqual([])
    expect(f.events.some(({ type }) => type === 'upstream_linked')).toBe(false)
  })

  test('18.12 does not count until the session is judged again, and never if that fails', async () => {
    let isWatched = false
    let judging = async (): Promise<boolean> => true
    const f = await setUpUpstream({
      double: {
        async signToken(claims, key) {
          isWatched = true
          return key.sign(claims, { alg: 'RS256' })
        },
      },
      more: {
        users: {
          authenticate: ({ username }) => ({ sub: username }),
          async isActive() {
            if (!isWatched) return true
            isWatched = false
            return judging()
          },
        },
      },
    })
    const account = await accountAs(f, 'alice')
    judging = async () => {
      throw new Error('the database is down')
    }
    expect(await account.link()).not.toBe('linked')
    expect(await account.list()).toEqual([])
    // The user was disabled while the provider responded: a thief has prepared a sign-in for this moment.
    let signedIn: unknown
    judging = async () => {
      judging = async () => true
      signedIn = (await f.claimsAfter()).claims?.sub
      return false
    }
    expect(await account.link()).not.toBe('linked')
    expect([signedIn === 'alice', await account.list()]).toEqual([false, []])
  })

  test('18.12 is not made in another browser, or for another user', async () => {
    const f = await setUpUpstream()
    const attacker = await accountAs(f, 'bob')
    const { url } = await attacker.leave()
    const victim = await accountAs(f, 'alice')
    expect(nameOf(await victim.browser.open(f.double.authorize(url)))).toBe('error')
    expect(await victim.list()).toEqual([])
    const noSession = f.browser()
    expect(nameOf(await noSession.open(f.double.authorize(url)))).toBe('error')
    // It was not used up.
    expect(await attacker.comeBack(url)).toBe('linked')
  })

  test('is not made by the response to a sign-in, and signs no user in', async () => {
    const f = await setUpUpstream()
    const account = await accountAs(f, 'alice')
    const { request } = await f.leave()
    expect(nameOf(await account.browser.open(f.double.authorize(request)))).toBe('error')
    expect(await account.list()).toEqual([])
    const { url } = await account.leave()
    const stranger = await f.leave()
    expect(nameOf(await stranger.browser.open(f.double.authorize(url)))).toBe('error')
  })

  test('18.12 is not made to an account that is linked to another user, or is one of its own', async () => {
    const f = await setUpUpstream()
    const alice = await accountAs(f, 'alice')
    const bob = await accountAs(f, 'bob')
    const [first, second] = [(await alice.leave()).url, (await bob.leave()).url]
    const outcomes = await Promise.all([alice.comeBack(first), bob.comeBack(second)])
    expect(outcomes.sort()).toEqual(['linked', 'taken'])
    f.double.set({ claims: { sub: 'a-user-of-its-own' } })
    await f.claimsAfter()
    expect(await alice.link()).toBe('taken')
  })

  test('18.12 is not kept for a session that ends while the provider responds', async () => {
    let meanwhile = async (): Promise<unknown> => undefined
    const f = await setUpUpstream({
      double: {
        async signToken(claims, key) {
          await meanwhile()
          return key.sign(claims, { alg: 'RS256' })
        },
      },
    })
    const account = await accountAs(f, 'alice')
    const { url } = await account.leave()
    // The user resets the password, which ends the session of the thief.
    meanwhile = () => f.provider.use(userSessions).endAll('alice')
    expect(await account.comeBack(url)).not.toBe('linked')
    expect(await (await accountAs(f, 'alice')).list()).toEqual([])
    expect(f.events.map(({ type }) => type)).not.toContain('upstream_linked')
  })

  test('is not removed by another user', async () => {
    const f = await setUpUpstream()
    const alice = await accountAs(f, 'alice')
    await alice.link()
    const [link] = await alice.list()
    expect(await (await accountAs(f, 'bob')).unlink(link?.id ?? '')).toBe(false)
    expect(await alice.list()).toHaveLength(1)
  })
})

describe('no parameter of a sign-in at another provider leads to a foreign page', () => {
  test.each([
    'https://evil.example.com/',
    'https://id.example.com.evil.example/',
    'https://id.example.com@evil.example/',
    '//evil.example.com/',
    'javascript:alert(1)',
  ])('not the page %s after a link', async (to) => {
    const f = await setUpUpstream()
    const account = await accountAs(f, 'alice')
    const page = await account.browser.open(`${accountUrl}?${new URLSearchParams({ action: 'link', to })}`)
    expect(page.status).toBe(500)
    expect(f.double.requests).toEqual([])
  })

  test('not those of a response', async () => {
    const f = await setUpUpstream()
    const away = await f.leave()
    const foreign = { redirect_uri: 'https://evil.example.com/', returnTo: 'https://evil.example.com/' }
    expect((await f.comeBack(away, foreign)).url.origin).toBe('https://id.example.com')
  })

  test.each(['javascript:alert(1)', 'data:text/html,a', 'http://login.acme.example.com/authorize'])(
    'not the address %s of the metadata',
    async (authorization_endpoint) => {
      const f = await setUpUpstream({ double: { metadata: { authorization_endpoint } } })
      const { upstreamPage } = await f.leave()
      expect(nameOf(upstreamPage)).toBe('signIn')
      expect(upstreamPage.html).toContain('provider_failed')
    },
  )
})
