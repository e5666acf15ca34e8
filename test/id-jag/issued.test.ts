import { dpop } from '@grantry/plugins/dpop'
import { decodeJwt } from 'jose'
import { describe, expect, test } from 'vitest'
import { holder } from '../dpop/parties.ts'
import { atChat, atIdp, chat, exchange, identityProvider, mcp, otherClient, typeOf, wikiMcp } from './jag-parties.ts'

const wiki = 'https://mcp.chat.example/wiki'

describe('draft-ietf-oauth-identity-assertion-authz-grant-04 section 4.3: the request', () => {
  test.each<[string, Readonly<Record<string, string>>, string, string]>([
    ['for another server', { audience: 'https://auth.wiki.example' }, 'invalid_target', 'audience_not_allowed'],
    ['for this server itself', { audience: 'https://acme.idp.example' }, 'invalid_target', 'audience_not_allowed'],
    ['for two servers', { audience: `${chat} https://b.example` }, 'invalid_target', 'audience_not_allowed'],
    ['for a resource of another server', { resource: wikiMcp }, 'invalid_target', 'resource_not_allowed'],
    ['for one of them, and another one', { resource: `${mcp} ${wikiMcp}` }, 'invalid_target', 'resource_not_allowed'],
    ['for a malformed resource', { resource: 'mcp' }, 'invalid_target', 'malformed'],
    ['for a scope that the client may not have', { scope: 'chat.admin' }, 'invalid_scope', 'scope_not_allowed'],
    [
      'with an access token',
      { subject_token_type: typeOf('access_token') },
      'invalid_request',
      'subject_token_type_unsupported',
    ],
    [
      'with a SAML assertion',
      { subject_token_type: typeOf('saml2') },
      'invalid_request',
      'subject_token_type_unsupported',
    ],
    [
      'with an actor',
      { actor_token: 'x', actor_token_type: typeOf('jwt') },
      'invalid_request',
      'actor_token_unsupported',
    ],
    [
      'with authorization details',
      { authorization_details: '[]' },
      'invalid_request',
      'authorization_details_unsupported',
    ],
    ['with a token that is none', { subject_token: 'x' }, 'invalid_request', 'id_token_invalid'],
  ])('3.113 %s: refused', async (_, changed, error, reason) => {
    const f = await identityProvider()
    const { id_token: token } = await f.signIn()
    const { status, body, failure } = await f.request(token, changed)
    expect([status, body.error, failure]).toEqual([400, error, `plugin:id-jag:${reason}`])
  })

  test('a scope that is malformed is refused', async () => {
    const f = await identityProvider()
    const { body, failure } = await f.request((await f.signIn()).id_token, { scope: 'a"b' })
    expect([body.error, failure]).toEqual(['invalid_scope', 'scope_malformed'])
  })

  test('without scope and resource: gets all that the client may have', async () => {
    const f = await identityProvider()
    const { resource: _, ...form } = f.form((await f.signIn()).id_token)
    const { body } = await f.send(form, atIdp)
    expect(body.scope).toBe('chat.read chat.history')
    expect(decodeJwt(body.access_token)).toMatchObject({ resource: mcp, scope: 'chat.read chat.history' })
  })

  test('without resource, of a server with several: refused', async () => {
    const f = await identityProvider({}, {}, { resources: [mcp, wiki] })
    const { resource: _, ...form } = f.form((await f.signIn()).id_token)
    expect((await f.send(form, atIdp)).failure).toBe('plugin:id-jag:resource_missing')
    const { body } = await f.request((await f.signIn()).id_token, { resource: `${wiki} ${mcp}` })
    expect(decodeJwt(body.access_token).resource).toEqual([wiki, mcp])
  })

  // Clients create URL objects: `new URL('https://auth.chat.example').href` ends with a slash.
  test('names of servers and resources can be written differently; the assertion has the registered form', async () => {
    const f = await identityProvider({}, {}, { resources: ['https://mcp.chat.example'] })
    const changed = { audience: `${chat}/`, resource: 'https://mcp.chat.example:443/' }
    const { body } = await f.request((await f.signIn()).id_token, changed)
    expect(decodeJwt(body.access_token)).toMatchObject({ aud: chat, resource: 'https://mcp.chat.example' })
  })

  test('of a client that is not registered for the server: refused like one for an unknown server', async () => {
    const f = await identityProvider()
    const { id_token: token } = await f.signIn({}, otherClient)
    const { body: unregistered } = await f.request(token, {}, otherClient)
    const { body: unknown } = await f.request(token, { audience: 'https://x.example' }, otherClient)
    expect(unregistered).toEqual(unknown)
  })

  test('a client without another id is known there by its own', async () => {
    const f = await identityProvider({}, {}, { clients: [{ clientId: atIdp[0], scopes: ['chat.read'] }] })
    const { body } = await f.request((await f.signIn()).id_token)
    expect(decodeJwt(body.access_token).client_id).toBe(atIdp[0])
  })
})

describe('the subject token', () => {
  test('of another client is refused', async () => {
    const f = await identityProvider()
    const { failure } = await f.request((await f.signIn({}, otherClient)).id_token)
    expect(failure).toBe('client_mismatch')
  })

  test('of a user who is not active, or was revoked, is refused', async () => {
    const inactive = await identityProvider({}, { users: { isActive: () => true } })
    const { id_token: token } = await inactive.signIn()
    await inactive.provider.revoke({ subject: 'U019488227' })
    expect((await inactive.request(token)).failure).toBe('plugin:id-jag:id_token_invalid')
    let isActive = true
    const f = await identityProvider({}, { users: { isActive: () => isActive } })
    const tokens = await f.signIn()
    isActive = false
    expect((await f.request(tokens.id_token)).status).toBe(400)
  })

  test('that expires soon makes the assertion expire with it, and one that has expired is refused', async () => {
    const f = await identityProvider()
    const { id_token: token } = await f.signIn()
    f.clock.advance(200)
    const { body } = await f.request(token)
    expect([body.expires_in, decodeJwt(body.access_token).exp]).toEqual([100, f.clock.now() + 100])
    f.clock.advance(120)
    expect((await f.request(token)).failure).toBe('plugin:id-jag:id_token_invalid')
  })

  test('can be a refresh token, which is not spent', async () => {
    const f = await identityProvider()
    const { refresh_token: token } = await f.signIn()
    f.clock.advance(7200)
    for (const _ of [1, 2]) {
      const { body } = await f.request(token, { subject_token_type: typeOf('refresh_token') })
      expect(decodeJwt(body.access_token)).toMatchObject({ sub: 'U019488227', auth_time: f.clock.now() - 7205 })
    }
    expect((await f.post('token', { grant_type: 'refresh_token', refresh_token: token }, atIdp)).status).toBe(200)
    const spent = await f.request(token, { subject_token_type: typeOf('refresh_token') })
    expect(spent.status).toBe(400)
  })

  test('can be no refresh token of another client, or without OpenID', async () => {
    const f = await identityProvider()
    const type = { subject_token_type: typeOf('refresh_token') }
    expect((await f.request((await f.signIn({}, otherClient)).refresh_token, type)).failure).toBe('client_mismatch')
    const { refresh_token: token } = await f.signIn({ scopes: ['offline_access'] })
    expect((await f.request(token, type)).failure).toBe('plugin:id-jag:not_a_sign_in')
  })
})

describe('the policy', () => {
  test('decides for each user, and adds claims', async () => {
    const asked: unknown[] = []
    const f = await identityProvider({
      allow({ client, ...request }) {
        asked.push([client.clientId, request])
        if (request.subject.sub === 'eve') return false
        return { scopes: ['chat.read', 'chat.admin'], claims: { email: 'ann@acme.example', aud_sub: '17' } }
      },
    })
    const { body } = await f.request((await f.signIn()).id_token)
    expect(body.scope).toBe('chat.read')
    expect(decodeJwt(body.access_token)).toMatchObject({ email: 'ann@acme.example', aud_sub: '17', scope: 'chat.read' })
    expect(asked).toEqual([
      [
        atIdp[0],
        {
          subject: expect.objectContaining({ sub: 'U019488227', acr: 'mfa' }),
          audience: chat,
          resources: [mcp],
          scopes: ['chat.read', 'chat.history'],
        },
      ],
    ])
    const eve = await f.signIn({ subject: { sub: 'eve', amr: ['pwd'], authTime: 0 } })
    expect((await f.request(eve.id_token)).failure).toBe('plugin:id-jag:not_allowed')
  })

  test.each(['sub', 'aud', 'exp', 'iss', 'jti', 'scope', 'nonce', 'acr'])('cannot set the claim %s', async (claim) => {
    const f = await identityProvider({ allow: () => ({ claims: { [claim]: 'x' } }) })
    expect((await f.request((await f.signIn()).id_token)).status).toBe(500)
  })

  test('cannot replace the client or the resource', async () => {
    const f = await identityProvider({ allow: () => ({ claims: { client_id: 'x', resource: 'y' } }) })
    const { body } = await f.request((await f.signIn()).id_token)
    expect(decodeJwt(body.access_token)).toMatchObject({ client_id: atChat[0], resource: mcp })
  })
})

describe('RFC 9470: a sign-in that does not suffice', () => {
  test('is refused with what the client must ask for', async () => {
    const f = await identityProvider({}, {}, { acrValues: ['mfa', 'phr'], maxAge: 60 })
    const weak = await f.signIn({ subject: { sub: 'ann', amr: ['pwd'], authTime: f.clock.now() } })
    expect((await f.request(weak.id_token)).body).toEqual({
      error: 'insufficient_user_authentication',
      error_description: 'The user must sign in again',
      acr_values: 'mfa phr',
      max_age: 60,
    })
    const strong = await f.signIn()
    expect((await f.request(strong.id_token)).status).toBe(200)
    f.clock.advance(56)
    const { status, failure } = await f.request(strong.id_token)
    expect([status, failure]).toEqual([400, 'plugin:id-jag:authentication_too_old'])
  })
})

test('section 8.6: an assertion is bound to the key that the request proves', async () => {
  const f = await identityProvider({}, { plugins: dpop({ nonce: false }) })
  const { prove, thumbprint } = await holder('ES256', f.clock.now)
  const headers = { dpop: await prove({ htu: 'https://acme.idp.example/connect/token' }) }
  const { body } = await f.request((await f.signIn()).id_token, {}, atIdp, headers)
  expect(body.token_type).toBe('N_A')
  expect(decodeJwt(body.access_token).cnf).toEqual({ jkt: thumbprint })
})

test('the event names the server that the assertion is for', async () => {
  const f = await identityProvider()
  await f.request((await f.signIn()).id_token)
  expect(f.events.filter(({ type }) => type === 'token_issued').at(-1)).toMatchObject({
    tokenType: 'assertion',
    grantType: exchange,
    audience: chat,
    scopes: ['chat.read', 'chat.history'],
    clientId: atIdp[0],
    sub: 'U019488227',
    fingerprint: expect.any(String),
  })
})

test('the metadata announces it', async () => {
  const f = await identityProvider()
  expect(f.provider.metadata).toMatchObject({
    identity_chaining_requested_token_types_supported: [typeOf('id-jag')],
    grant_types_supported: expect.arrayContaining([exchange]),
  })
})
