import { defineFields, definePlugin, type JsonObject } from '@grantry/core'
import { testClient } from '@grantry/testing'
import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose'
import { describe, expect, test } from 'vitest'
import { builtInPlugins, fixture } from '../support/fixture.ts'
import { privateKeyFor } from '../support/keys.ts'
import { kitOf, kitPlugin, offerKit } from '../support/kit-of.ts'
import { setUp } from './plugin-kit.ts'

const logoutEvent = { 'http://schemas.openid.net/event/backchannel-logout': {} }

/** The declaration of `backChannelLogout()`. */
const logoutTokens = defineFields({ signs: { 'logout+jwt': { events: logoutEvent } } })

describe('sign()', () => {
  test('signs a JWT of its type with the key of the provider', async () => {
    const { withKit, provider, clock } = await setUp()
    const jwt = await withKit((kit) =>
      kit.sign('token-introspection+jwt', { aud: 'api1', iss: 'https://evil.example' }),
    )
    const keys = await (await provider.handlers.jwks(new Request('https://id.example.com/jwks'))).json()
    const { payload, protectedHeader } = await jwtVerify(jwt, createLocalJWKSet(keys), {
      typ: 'token-introspection+jwt',
      issuer: provider.issuer,
      audience: 'api1',
    })
    expect(payload).toEqual({ aud: 'api1', iss: provider.issuer, iat: clock.now() })
    expect(protectedHeader).toMatchObject({ alg: 'ES256', typ: 'token-introspection+jwt' })
  })

  // OpenID Connect Back-Channel Logout 1.0 section 2.4: a logout token must have sid or sub, exp, jti and events.
  test('signs a logout token for a session, which the client verifies like an identity token', async () => {
    const { withKit, provider, clock } = await setUp('logout', {}, [logoutTokens])
    const events = logoutEvent
    const claims = { aud: testClient[0], exp: clock.now() + 120, jti: 'logout-1', sid: 'session-1', events }
    const token = await withKit((kit) => kit.sign('logout+jwt', claims))
    const keys = await (await provider.handlers.jwks(new Request('https://id.example.com/jwks'))).json()
    const { payload } = await jwtVerify(token, createLocalJWKSet(keys), {
      typ: 'logout+jwt',
      issuer: provider.issuer,
      audience: testClient[0],
      currentDate: new Date(clock.now() * 1000),
    })
    expect(payload).toEqual({ ...claims, iss: provider.issuer, iat: clock.now() })
    const validation = await provider.inspect(token)
    expect(validation.valid).toBe(false)
  })

  test('signs a logout token of a user, which must have sub and exp', async () => {
    const { withKit, clock, provider } = await setUp('logout', {}, [logoutTokens])
    const claims = { sub: 'alice', aud: testClient[0], exp: clock.now() + 120, events: logoutEvent }
    const token = await withKit((kit) => kit.sign('logout+jwt', claims))
    expect(decodeJwt(token)).toMatchObject(claims)
    expect((await provider.inspect(token)).valid).toBe(false)
  })

  test.each<[string, string, JsonObject]>([
    ['another type', 'x+jwt', {}],
    ['a nonce', 'logout+jwt', { nonce: 'n' }],
    ['a long life', 'logout+jwt', { exp: 1_800_000_121 }],
    ['a time that is no number', 'logout+jwt', { exp: '1800000001' }],
    ['no event', 'logout+jwt', { events: {} }],
    ['no events', 'logout+jwt', { events: 'http://schemas.openid.net/event/backchannel-logout' }],
    ['another event too', 'logout+jwt', { events: { ...logoutEvent, 'https://a.example/event': {} } }],
    ['a filled event', 'logout+jwt', { events: { 'http://schemas.openid.net/event/backchannel-logout': { a: 1 } } }],
  ])('refuses a logout token with %s', async (_name, typ, more) => {
    const { withKit, clock } = await setUp('logout', {}, [logoutTokens])
    const claims = { sub: 'alice', aud: testClient[0], exp: clock.now() + 60, events: logoutEvent, ...more }
    await expect(withKit((kit) => kit.sign(typ, claims))).rejects.toThrow(/could be accepted as an identity token/u)
  })

  test('refuses a logout token of a plugin that has not declared it, also beside one that has', async () => {
    const declaring = definePlugin('logout', [logoutTokens, offerKit('logout')])
    const { provider, clock } = await fixture({ plugins: [...builtInPlugins, declaring, kitPlugin('other')] })
    const claims = { sub: 'alice', aud: testClient[0], exp: clock.now() + 60, events: logoutEvent }
    expect(await kitOf(provider, 'logout').sign('logout+jwt', claims)).toBeTypeOf('string')
    await expect(kitOf(provider, 'other').sign('logout+jwt', claims)).rejects.toThrow('only logout signs logout+jwt')
    const { sub: _, ...ofSession } = { ...claims, sid: 's' }
    await expect(kitOf(provider, 'other').sign('logout+jwt', ofSession)).rejects.toThrow('only logout signs logout+jwt')
  })

  test.each<[string, JsonObject]>([
    ['no claims', {}],
    ['claims of identity tokens only', { aud: 'web', nonce: 'n', sid: 's' }],
    ['a claim of identity tokens of this provider', { idp: 'local' }],
    ['claims of users only', { email_verified: true, name: 'Alice', phone_number: '1', updated_at: 1, 'name#de': 'a' }],
    ['an epoch of what a user lets a client have', { withdrawal_epoch: 'a' }],
    ['the accesses from which a token has come by exchange', { origin_epochs: ['a b'] }],
  ])('refuses the declaration of a type with %s', async (_name, claims) => {
    const parts = [defineFields({ signs: { 'x+jwt': claims } })]
    await expect(setUp('kit', {}, parts)).rejects.toThrow('must have a claim that identity tokens do not have')
  })

  test('refuses two plugins that declare one type', async () => {
    const plugins = ['one', 'two'].map((name) =>
      definePlugin(name, [defineFields({ signs: { 'x+jwt': { event: name } } })]),
    )
    await expect(fixture({ plugins: [...builtInPlugins, ...plugins] })).rejects.toThrow('one and two both sign x+jwt')
  })

  test('signs for a client with the algorithm of its identity tokens', async () => {
    const keys = [await privateKeyFor('ES256'), await privateKeyFor('RS256'), await privateKeyFor('EdDSA')]
    const { provider } = await fixture({ keys, plugins: [...builtInPlugins, kitPlugin('logout')] })
    const kit = kitOf(provider, 'logout')
    const algorithmOf = async (client?: Parameters<typeof kit.sign>[2]) =>
      decodeProtectedHeader(await kit.sign('logout+jwt', { sid: 's' }, client)).alg
    expect(await algorithmOf()).toBe('ES256')
    expect(await algorithmOf({ identityTokenAlgorithm: undefined })).toBe('RS256')
    expect(await algorithmOf({ identityTokenAlgorithm: 'EdDSA' })).toBe('EdDSA')
    expect(await algorithmOf(await kit.findClient('web'))).toBe('RS256')
  })

  test.each(['at+jwt', 'AT+JWT', 'application/at+jwt', 'JWT', 'jwt', '', 'x', 'x+jwt\n', ' at+jwt', 'At+jwt'])(
    'refuses the type %j',
    async (typ) => {
      const { withKit } = await setUp()
      const message = `sign(): ${JSON.stringify(typ)} is not a type that a plugin can sign`
      await expect(withKit((kit) => kit.sign(typ, {}))).rejects.toThrow(message)
    },
  )

  test('is not given other claims than it has checked', async () => {
    const { withKit } = await setUp()
    const claims = {
      toJSON: () => ({ iss: 'https://evil.example', sub: 'alice', aud: testClient[0], exp: 1_900_000_000 }),
    }
    await expect(withKit((kit) => kit.sign('x+jwt', claims as never))).rejects.toThrow(
      'sign(): the claims are not JSON',
    )
  })

  test('refuses what a careless client could accept as an identity token', async () => {
    const { withKit } = await setUp()
    const signing = withKit((kit) => kit.sign('x+jwt', { sub: 'alice', aud: testClient[0], exp: kit.now() + 60 }))
    await expect(signing).rejects.toThrow(/could be accepted as an identity token/u)
  })

  test('makes nothing that the provider accepts', async () => {
    const { withKit, get, events } = await setUp()
    const claims = {
      sub: 'alice',
      client_id: testClient[0],
      scope: 'openid api1',
      aud: 'https://id.example.com/resources',
    }
    const jwt = await withKit((kit) => kit.sign('x+jwt', claims))
    const { status } = await get('userinfo', {}, { authorization: `Bearer ${jwt}` })
    expect(status).toBe(401)
    expect(events.at(-1)).toMatchObject({ reason: 'token_unknown' })
  })
})
