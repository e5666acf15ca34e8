import { decodeJwt } from 'jose'
import { describe, expect, test } from 'vitest'
import { chat, chatServer, idp, mcp, typ, wikiMcp } from './jag-parties.ts'

describe('draft-ietf-oauth-identity-assertion-authz-grant-04 section 3.1: the claims', () => {
  test.each<[string, Readonly<Record<string, unknown>>, string]>([
    ['without iss', { iss: undefined }, 'issuer_unknown'],
    ['of another issuer', { iss: 'https://evil.example' }, 'issuer_unknown'],
    ['of an issuer in another spelling', { iss: `${idp}/` }, 'issuer_unknown'],
    ['of this server itself', { iss: chat }, 'issuer_unknown'],
    ['without sub', { sub: undefined }, 'sub_invalid'],
    ['with a sub of 256 characters', { sub: 'x'.repeat(256) }, 'sub_invalid'],
    ['without aud', { aud: undefined }, 'aud_invalid'],
    ['for another server', { aud: 'https://auth.wiki.example' }, 'aud_invalid'],
    ['for the token endpoint', { aud: `${chat}/connect/token` }, 'aud_invalid'],
    ['for the MCP server', { aud: mcp }, 'aud_invalid'],
    ['for this server and another one', { aud: [chat, 'https://auth.wiki.example'] }, 'aud_invalid'],
    ['for this server twice', { aud: [chat, chat] }, 'aud_invalid'],
    ['without client_id', { client_id: undefined }, 'client_id_invalid'],
    ['with a list of clients', { client_id: ['f53f191f9311af35'] }, 'client_id_invalid'],
    ['of another client', { client_id: 'other' }, 'client_mismatch'],
    ['without jti', { jti: undefined }, 'jti_missing'],
    ['with a jti of 257 characters', { jti: 'x'.repeat(257) }, 'jti_invalid'],
    ['without exp', { exp: undefined }, 'exp_invalid'],
    ['without iat', { iat: undefined }, 'iat_invalid'],
    ['without resource', { resource: undefined }, 'resource_missing'],
    ['with an empty resource', { resource: '' }, 'resource_invalid'],
    ['with no resources', { resource: [] }, 'resource_invalid'],
    ['with a resource that is no string', { resource: { [mcp]: true } }, 'resource_invalid'],
    [
      'with a resource of another server',
      { resource: 'https://mcp.other.example/mcp' },
      'invalid_target: audience_not_allowed',
    ],
    ['with a resource of which it has no scope', { resource: wikiMcp }, 'invalid_target: audience_not_allowed'],
    [
      'with a resource of which it has no scope, too',
      { resource: [mcp, wikiMcp] },
      'invalid_target: audience_not_allowed',
    ],
    ['with a scope that is a list', { scope: ['chat.read'] }, 'scope_invalid'],
    ['without scope', { scope: undefined }, 'invalid_scope: scope_not_granted'],
    ['with an empty scope', { scope: '' }, 'invalid_scope: scope_not_granted'],
    ['with a scope that the client may not have', { scope: 'chat.admin' }, 'invalid_scope: scope_not_granted'],
    ['with an unknown scope', { scope: 'chat.delete' }, 'invalid_scope: scope_not_granted'],
    ['for offline access', { scope: 'offline_access' }, 'invalid_scope: scope_not_granted'],
    ['of a tenant', { tenant: 'acme' }, 'tenant_not_allowed'],
    ['with a tenant of this server', { aud_tenant: 'acme' }, 'aud_tenant_unsupported'],
    [
      'with authorization details',
      { authorization_details: [{ type: 'chat_read' }] },
      'authorization_details_unsupported',
    ],
    ['with a malformed actor', { act: { client_id: 'a' } }, 'act_invalid'],
    ['with amr that is no list', { amr: 'pwd' }, 'amr_invalid'],
    ['with an acr of 201 characters', { acr: 'x'.repeat(201) }, 'acr_invalid'],
    ['with auth_time that is no number', { auth_time: 'now' }, 'auth_time_invalid'],
    ['bound to a key that is not proved', { cnf: { jkt: 'x' } }, 'proof_missing'],
  ])('3.110 %s: refused', async (_, claims, reason) => {
    const f = await chatServer()
    expect(await f.outcomeOf(await f.signed(claims))).toBe(reason)
  })

  test('times are checked as for every assertion', async () => {
    const f = await chatServer()
    const now = f.clock.now()
    for (const [claims, reason] of [
      [{ exp: now - 11 }, 'expired'],
      [{ exp: now + 3611 }, 'exp_too_late'],
      [{ exp: Number.MAX_VALUE }, 'malformed'],
      [{ iat: now + 11 }, 'iat_invalid'],
      [{ iat: now - 3611 }, 'iat_too_early'],
      [{ nbf: now + 11 }, 'nbf_invalid'],
    ] as const) {
      expect([claims, await f.outcomeOf(await f.signed(claims))]).toEqual([claims, reason])
    }
  })

  test.each<[string, Readonly<Record<string, unknown>>, Readonly<Record<string, unknown>>]>([
    ['with a list of one audience', { aud: [chat] }, {}],
    ['with an issuer that ends with a slash', { aud: `${chat}/` }, {}],
    ['with a list of resources', { resource: [mcp] }, {}],
    ['with an equivalent resource', { resource: 'https://MCP.chat.example:443/mcp' }, {}],
    ['with more scopes than the client may have', { scope: 'chat.read chat.admin wiki.read' }, { scope: 'chat.read' }],
    ['without authentication methods', { amr: [] }, {}],
    ['with claims that this server does not know', { email: 'bob@chat.example', groups: ['a'] }, {}],
  ])('%s: accepted', async (_, claims, answer) => {
    const f = await chatServer()
    const { status, body } = await f.redeem(await f.signed(claims))
    expect([status, body.scope]).toEqual([200, answer.scope ?? 'chat.read chat.history'])
    expect(decodeJwt(body.access_token).aud).toBe(mcp)
  })

  test.each([typ, 'application/oauth-id-jag+jwt', 'OAuth-ID-JAG+JWT'])('the type can be %s', async (written) => {
    const f = await chatServer()
    expect(await f.outcomeOf(await f.signed({}, { typ: written }))).toBe('accepted')
  })

  test('the actor is kept, with the issuer that knows it', async () => {
    const f = await chatServer()
    const { body } = await f.redeem(await f.signed({ act: { sub: 'agent-7' } }))
    expect(decodeJwt(body.access_token).act).toEqual({ iss: idp, sub: 'agent-7' })
  })

  test('an authentication in the future counts as one of now', async () => {
    const f = await chatServer()
    const { body } = await f.redeem(await f.signed({ auth_time: f.clock.now() + 1e6 }))
    expect(decodeJwt(body.access_token).auth_time).toBe(f.clock.now())
  })
})

describe('the request', () => {
  test('3.111 can ask for fewer scopes, not for more', async () => {
    const f = await chatServer()
    const narrowed = await f.redeem(await f.signed(), { scope: 'chat.read' })
    expect(narrowed.body.scope).toBe('chat.read')
    const widened = await f.redeem(await f.signed({ scope: 'chat.read' }), { scope: 'chat.read chat.history' })
    expect(widened.body.scope).toBe('chat.read')
    expect(await f.outcomeOf(await f.signed({ scope: 'chat.read' }), { scope: 'chat.history' })).toBe(
      'invalid_scope: scope_not_granted',
    )
  })

  test('3.111 gets no refresh token, whatever the assertion and the request ask for', async () => {
    const f = await chatServer()
    const scope = 'chat.read offline_access'
    const { body } = await f.redeem(await f.signed({ scope }), { scope })
    expect([body.scope, body.refresh_token]).toEqual(['chat.read', undefined])
  })

  test('is for confidential clients only', async () => {
    const { client, bearer } = await import('./jag-parties.ts')
    const { secrets: _, ...open } = client(['open', ''], [bearer], ['chat.read'])
    await expect(chatServer({}, {}, { clients: [{ ...open, public: true }] })).rejects.toThrow(
      /open is public but uses .*jwt-bearer/u,
    )
  })
})

test('RFC 8414: the profile is announced, with the grant type', async () => {
  const f = await chatServer()
  expect(f.provider.metadata).toMatchObject({
    authorization_grant_profiles_supported: ['urn:ietf:params:oauth:grant-profile:id-jag'],
    grant_types_supported: expect.arrayContaining(['urn:ietf:params:oauth:grant-type:jwt-bearer']),
  })
})
