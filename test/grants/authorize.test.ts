import { createHash } from 'node:crypto'
import { defineGrant, OAuthError } from '@grantry/core'
import { authorizationCode } from '@grantry/plugins/authorization-code'
import { refreshToken } from '@grantry/plugins/refresh-token'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { createTestProvider, type NewGrant, storeGrant, type TestProviderOptions, testClient } from '@grantry/testing'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { withLatency } from '../support/latency.ts'

const grantType = 'urn:example:ticket'

/** A grant that redeems what the host has authorized for a ticket. */
const ticket = defineGrant({
  grantType,
  params: v.object({ ticket: v.string() }),
  scope: 'ignored',
  stored: { kind: 'ticket' },
  async handle({ client, params }, kit) {
    const stored = await kit.findGrant('ticket', params.ticket)
    if (stored === undefined || stored.clientId !== client.clientId) {
      throw new OAuthError('invalid_grant', 'The ticket is not valid', { reason: 'plugin:ticket:unknown' })
    }
    return { subject: stored.subject, scopes: stored.scopes, redeems: [stored] }
  },
})

const [clientId] = testClient
const authorized: NewGrant = {
  kind: 'ticket',
  clientId,
  subject: { sub: 'alice', amr: ['pwd'] },
  scopes: ['api1', 'offline_access'],
}

async function setUp(more: Partial<TestProviderOptions> = {}) {
  const f = await createTestProvider({ plugins: [ticket, authorizationCode(), refreshToken()], ...more })
  const redeem = (credential: string, form: Record<string, string> = {}) =>
    f.post('token', { grant_type: grantType, ticket: credential, ...form }, testClient)
  return { ...f, redeem }
}

describe('authorize()', () => {
  test('stores a grant of a kind that a plugin redeems, once', async () => {
    const { provider, redeem } = await setUp()
    const credential = await storeGrant(provider, authorized)
    expect(credential).toMatch(/^[\w-]{43}$/u)
    const { status, body } = await redeem(credential)
    expect(status).toBe(200)
    expect(body.scope).toBe('api1 offline_access')
    const replayed = await redeem(credential)
    expect([replayed.status, replayed.body.error, replayed.failure]).toEqual([400, 'invalid_grant', 'code_replayed'])
  })

  test('a second use revokes the tokens of the first one, as for a code', async () => {
    const { provider, post, redeem } = await setUp()
    const credential = await storeGrant(provider, authorized)
    const { body } = await redeem(credential)
    await redeem(credential)
    const form = { grant_type: 'refresh_token', refresh_token: body.refresh_token }
    expect((await post('token', form, testClient)).body.error).toBe('invalid_grant')
  })

  test('of many concurrent redemptions, one succeeds', async () => {
    const { provider, redeem } = await setUp({ storage: withLatency(memoryDriver()) })
    const credential = await storeGrant(provider, authorized)
    const responses = await Promise.all(Array.from({ length: 20 }, () => redeem(credential)))
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1)
  })

  test('a grant of a user or client that is revoked before the redemption is refused', async () => {
    for (const target of [{ subject: 'alice' }, { clientId }] as const) {
      const { provider, clock, redeem } = await setUp()
      const credential = await storeGrant(provider, authorized)
      clock.advance(30)
      await provider.revoke(target)
      const { status, body } = await redeem(credential)
      expect([status, body.error]).toEqual([400, 'invalid_grant'])
    }
  })

  test('a grant expires after its lifetime; default: that of a code', async () => {
    const { provider, clock, redeem } = await setUp()
    const short = await storeGrant(provider, authorized)
    const long = await storeGrant(provider, { ...authorized, lifetime: 600 })
    clock.advance(60)
    expect((await redeem(short)).status).toBe(400)
    clock.advance(539)
    expect((await redeem(long)).status).toBe(200)
  })

  test('uses a credential that the client already has, but never twice', async () => {
    const { provider, redeem } = await setUp()
    const credential = 'd'.repeat(43)
    const credentialHash = createHash('sha256').update(credential).digest('base64url')
    expect(await storeGrant(provider, { ...authorized, credentialHash })).toBe(credentialHash)
    const again = storeGrant(provider, { ...authorized, credentialHash, subject: { sub: 'mallory', amr: ['pwd'] } })
    await expect(again).rejects.toMatchObject({ details: { reason: 'credential_taken' } })
    expect((await redeem(credential)).status).toBe(200)
    await expect(storeGrant(provider, { ...authorized, credentialHash })).rejects.toMatchObject({
      details: { reason: 'credential_taken' },
    })
    await expect(storeGrant(provider, { ...authorized, credentialHash: 'guessable' })).rejects.toMatchObject({
      message: 'credentialHash is malformed',
    })
  })

  test('each kind has its own credentials', async () => {
    const { provider, post, redeem } = await setUp()
    const redirectUri = 'https://client.example.com/callback'
    const code = await storeGrant(provider, { ...authorized, kind: 'code', redirectUri })
    expect((await redeem(code)).body.error).toBe('invalid_grant')
    const form = { grant_type: 'authorization_code', redirect_uri: redirectUri }
    const credential = await storeGrant(provider, authorized)
    expect((await post('token', { ...form, code: credential }, testClient)).body.error).toBe('invalid_grant')
    expect((await post('token', { ...form, code }, testClient)).status).toBe(200)
  })

  test('events name the kind, except for codes', async () => {
    const { provider, events, redeem } = await setUp()
    const credential = await storeGrant(provider, authorized)
    await redeem(credential)
    await redeem(credential)
    const kinds = events.flatMap((event) => ('kind' in event ? [[event.type, event.kind]] : []))
    expect(kinds).toEqual([
      ['code_issued', 'ticket'],
      ['code_redeemed', 'ticket'],
      ['code_replayed', 'ticket'],
    ])
  })

  test.each([
    ['an unknown kind', { kind: 'absent' }],
    ['refresh tokens, which only the core creates', { kind: 'refresh' }],
    ['no kind', { kind: undefined as never }],
  ])('rejects %s', async (_, more) => {
    const { provider } = await setUp()
    const message = `openAuthorization(): no plugin redeems stored grants of the kind ${String(more.kind)}`
    await expect(storeGrant(provider, { ...authorized, ...more })).rejects.toMatchObject({ name: 'TypeError', message })
  })

  test.each<[string, Partial<NewGrant>, string]>([
    ['an unknown client', { clientId: 'absent' }, 'client_unknown'],
    [
      'a foreign redirect URI, also where none is needed',
      { redirectUri: 'https://evil.example.com/' },
      'redirect_uri_mismatch',
    ],
    ['an unknown scope', { scopes: ['api9'] }, 'scope_unknown'],
    ['a claim of the protocol', { claims: { sub: 'mallory' } }, 'claim_reserved'],
    ['a lifetime of zero', { lifetime: 0 }, 'malformed_authorization_request'],
    ['parameters that are not text', { params: { a: 1 as never } }, 'malformed_authorization_request'],
  ])('refuses %s', async (_, more, reason) => {
    const { provider } = await setUp()
    await expect(storeGrant(provider, { ...authorized, ...more })).rejects.toMatchObject({ details: { reason } })
  })

  test('refuses a client that may not use the grant type that redeems it', async () => {
    const { provider } = await setUp({ clients: [{ clientId, public: true, scopes: ['api1'] }] })
    await expect(storeGrant(provider, { ...authorized, scopes: ['api1'] })).rejects.toMatchObject({
      code: 'unauthorized_client',
      details: { reason: 'grant_type_not_allowed' },
    })
  })
})

describe('a kind of stored grants', () => {
  const start = (stored: object) =>
    createTestProvider({ plugins: [{ ...ticket, stored: stored as { kind: string } }, authorizationCode()] })

  test.each([
    [
      'a kind that another grant redeems',
      { kind: 'code' },
      /both provide the redemption of stored grants of the kind code/u,
    ],
    ['a malformed kind', { kind: 'A b' }, /: stored\.kind (?:must be|is) /u],
    ['the kind of single-use credentials', { kind: 'plugin' }, /: stored\.kind (?:must be|is) /u],
    ['no kind', {}, /: stored\.kind (?:must be|is) /u],
    ['a redirect that is not a boolean', { kind: 'ticket', redirect: 'yes' }, /stored\.redirect/u],
    ['a demand without a name', { kind: 'ticket', publicClientsDemand: 7 }, /stored\.publicClientsDemand/u],
  ])('cannot be %s', async (_, stored, message) => {
    await expect(start(stored)).rejects.toThrow(message)
  })

  test('that is sent to a redirect URI is a response type of the discovery document', async () => {
    const { provider } = await start({ kind: 'ticket', redirect: true })
    expect(provider.metadata.response_types_supported).toEqual(['ticket', 'code'])
  })
})
