import { upstream, upstreamTokens, upstreamUsers } from '@grantry/plugins/upstream'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { describe, expect, test } from 'vitest'
import { json, realNow } from './openid-double.ts'
import { accountAs, accountUrl, acmeOf, setUpUpstream } from './parties.ts'
import { contentOf, encryptionSecrets, setUpTokens } from './token-parties.ts'

const secretText = /upstream-(?:access|refresh)-token/u

describe('tokens of another provider', () => {
  test('18.17 are not stored, unless the configuration asks for it', async () => {
    const storage = memoryDriver()
    const f = await setUpUpstream({ double: { refreshes: true }, more: { storage } })
    await f.claimsAfter()
    const content = await contentOf(storage)
    expect(content.size).toBeGreaterThan(5)
    expect([...content].join('\n')).not.toMatch(secretText)
    expect(f.provider.has(upstreamTokens)).toBe(false)
    const kept = await setUpTokens()
    expect((await contentOf(kept.storage)).size).toBe(content.size + 1)
  })

  test('18.17 are returned to the host, and stored in no readable form', async () => {
    const { find, storage, provider } = await setUpTokens()
    expect(await find()).toMatchObject({ accessToken: 'upstream-access-token-2', tokenType: 'bearer' })
    expect([...(await contentOf(storage))].join('\n')).not.toMatch(secretText)
    expect(await find('another user')).toBeUndefined()
    expect(await provider.use(upstreamTokens).find('another user', 'unknown')).toBeUndefined()
  })

  test('18.18 are refreshed a minute before their end, and not earlier', async () => {
    const { find, skip, double } = await setUpTokens()
    skip(200)
    expect((await find())?.accessToken).toBe('upstream-access-token-2')
    skip(50)
    const next = await find()
    expect(next?.accessToken).toBe('upstream-access-token-3')
    expect(next?.expiresAt).toBeGreaterThan(realNow() + 500)
    expect(await find()).toEqual(next)
    expect(double.countOf('/token')).toBe(2)
  })

  test('18.18 without a refresh token end with the access token', async () => {
    const { find, skip } = await setUpTokens({ double: { refreshes: false } })
    skip(290)
    expect((await find())?.accessToken).toBe('upstream-access-token-2')
    skip(20)
    expect(await find()).toBeUndefined()
  })

  test('18.18 are removed when the provider refuses the refresh token, with an event', async () => {
    const { find, skip, double, storage, events } = await setUpTokens()
    const before = (await contentOf(storage)).size
    double.revoke()
    skip(301)
    expect(await find()).toBeUndefined()
    expect(events).toContainEqual(
      expect.objectContaining({
        type: 'upstream_refresh_failed',
        idp: 'acme',
        reason: 'token_endpoint_invalid_grant',
      }),
    )
    expect(await find()).toBeUndefined()
    expect(double.countOf('/token')).toBe(2)
    expect(before).toBeGreaterThan(0)
  })

  test('18.18 survive an outage of the provider, which few requests notice', async () => {
    const { find, skip, double } = await setUpTokens()
    double.set({ intercept: ({ pathname }) => (pathname === '/token' ? json({}, 503) : undefined) })
    skip(250)
    expect((await find())?.accessToken).toBe('upstream-access-token-2')
    skip(60)
    await expect(find()).rejects.toMatchObject({ code: 'temporarily_unavailable' })
    double.set({ intercept: () => undefined })
    skip(6)
    expect((await find())?.accessToken).toBe('upstream-access-token-3')
  })

  test('18.18 can be opened with an earlier secret', async () => {
    const storage = memoryDriver()
    const setting = { more: { storage } }
    const { sub, double } = await setUpTokens(setting)
    const renewed = await setUpUpstream({
      ...setting,
      options: {
        providers: [{ ...acmeOf(double), keepTokens: true }],
        encryptionSecrets: ['another secret, of 32 characters or more', ...encryptionSecrets],
      },
    })
    expect(await renewed.provider.use(upstreamTokens).find(sub, 'acme')).toBeDefined()
    const lost = await setUpUpstream({
      ...setting,
      options: {
        providers: [{ ...acmeOf(double), keepTokens: true }],
        encryptionSecrets: ['another secret, of 32 characters or more'],
      },
    })
    expect(await lost.provider.use(upstreamTokens).find(sub, 'acme')).toBeUndefined()
  })
})

describe('kept tokens are removed', () => {
  const isStored = async ({ storage, find }: Awaited<ReturnType<typeof setUpTokens>>, before: number) => {
    expect(await find()).toBeUndefined()
    return (await contentOf(storage)).size >= before
  }

  test('18.19 with the account', async () => {
    const f = await setUpTokens()
    const { size } = await contentOf(f.storage)
    await f.provider.use(upstreamUsers).remove(f.sub)
    expect(await isStored(f, size)).toBe(false)
  })

  test('18.19 by the host, and when the user is revoked', async () => {
    const f = await setUpTokens()
    await f.provider.use(upstreamTokens).remove(f.sub, 'acme')
    expect(await f.find()).toBeUndefined()
    const revoked = await setUpTokens()
    await revoked.provider.revoke({ subject: revoked.sub })
    expect(await revoked.find()).toBeUndefined()
    await f.claimsAfter()
    expect(await f.find()).toBeDefined()
  })

  test('18.19 by a logout token of the provider', async () => {
    const f = await setUpTokens()
    const token = await f.double.sign({
      iss: f.double.issuer,
      aud: f.double.clientId,
      sub: 'upstream-alice',
      iat: realNow(),
      exp: realNow() + 60,
      jti: 'one',
      events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
    })
    const url = 'https://id.example.com/connect/upstream/acme/logout'
    const body = new URLSearchParams({ logout_token: token })
    const { status } = await f.provider.fetch(new Request(url, { method: 'POST', body }))
    expect(status).toBe(200)
    expect(await f.find()).toBeUndefined()
  })

  test('18.19 with the link', async () => {
    const f = await setUpTokens()
    f.double.set({ claims: { sub: 'another account' } })
    const alice = await accountAs(f, 'alice')
    expect(await alice.link()).toBe('linked')
    expect(await f.find('alice')).toBeDefined()
    const [link] = await alice.list()
    await alice.unlink(link?.id ?? '')
    expect(await f.find('alice')).toBeUndefined()
    expect(await f.find()).toBeDefined()
  })

  test('18.19 with all links, when an account ends', async () => {
    const f = await setUpTokens()
    f.double.set({ claims: { sub: 'another account' } })
    const alice = await accountAs(f, 'alice')
    await alice.link()
    await alice.browser.open(`${accountUrl}?action=forget`)
    expect(await alice.list()).toEqual([])
    expect(await f.find('alice')).toBeUndefined()
  })

  test('18.19 are not returned for a user who is not active', async () => {
    let active = true
    const f = await setUpTokens({ more: { users: { authenticate: () => undefined, isActive: () => active } } })
    expect(await f.find()).toBeDefined()
    active = false
    expect(await f.find()).toBeUndefined()
  })
})

test.each([
  [{ keepTokens: true }, {}, 'encryptionSecrets is required for keepTokens'],
  [{ keepTokens: true }, { encryptionSecrets: ['short'] }, 'must have at least 32 characters'],
  [{ keepTokens: true, dpop: true }, { encryptionSecrets }, 'keepTokens cannot be used with dpop'],
])('%o and %o are refused', (provider, options, problem) => {
  const acme = acmeOf({ issuer: 'https://login.acme.example.com', clientId: 'grantry' }, provider)
  expect(() => upstream({ providers: [acme], ...options })).toThrow(problem)
})
