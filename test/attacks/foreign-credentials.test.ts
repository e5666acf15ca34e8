/**
 * Attack: a registered client has got a credential of another client, and probes it: with a wider scope, or with a grant
 * that compares something else first. A response that differs from that for an unknown credential would reveal that it
 * is valid, and what it is for.
 *
 * RFC 6749 sections 5.2 and 10.4: `invalid_grant` for a credential that was issued to another client. That the response
 * is the same as for an unknown one is hardening.
 */
import { authorizations, defineGrant } from '@grantry/core'
import { createTestProvider, sha256Of, storeGrant } from '@grantry/testing'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { fixture, lastReason, otherClient, redirectUri, web } from '../support/fixture.ts'

describe('a refresh token of another client', () => {
  test.each([
    ['alone', {}],
    ['with a wider scope', { scope: 'api1 api2' }],
    ['with a scope that it has', { scope: 'api1' }],
  ])('%s is refused like an unknown one, and still works', async (_, more) => {
    const f = await fixture()
    const code = await f.code({ scopes: ['api1', 'offline_access'] })
    const { body } = await f.post('token', { grant_type: 'authorization_code', code, redirect_uri: redirectUri }, web)
    const form = { grant_type: 'refresh_token', refresh_token: body.refresh_token, ...more }
    const unknown = await f.post('token', { ...form, refresh_token: 'x'.repeat(43) }, otherClient)
    const foreign = await f.post('token', form, otherClient)
    expect([foreign.status, foreign.body]).toEqual([unknown.status, unknown.body])
    expect(foreign.body.error).toBe('invalid_grant')
    expect(lastReason(f)).toBe('client_mismatch')
    expect((await f.post('token', { ...form, scope: 'api1' }, web)).status).toBe(200)
  })
})

const grantType = 'urn:example:link'
const clientOf = ([clientId, secret]: readonly [string, string]) => ({
  clientId,
  secrets: [{ sha256: sha256Of(secret) }],
  grantTypes: [grantType],
  scopes: ['api1', 'api2'],
})

/** A grant that compares the scopes itself, after or without `assertClient`. */
const linkGrant = (compares: boolean) =>
  defineGrant({
    grantType,
    params: v.object({ link: v.string() }),
    refusal: 'The link is not valid',
    requires: [authorizations],
    stored: { kind: 'link' },
    async handle({ params: { link }, scopes }, kit) {
      const stored = await kit.findGrant('link', link)
      if (stored === undefined) throw kit.refuse('invalid_grant', 'The link is not valid', 'unknown')
      if (compares) kit.assertClient(stored.clientId)
      if (!scopes.every((scope) => stored.scopes.includes(scope))) {
        throw kit.refuse('invalid_scope', 'The link is for other scopes', 'scope_widened')
      }
      return { redeems: [stored], scopes }
    },
  })

describe('a credential of a custom grant of another client', () => {
  async function setUp(compares: boolean) {
    const f = await createTestProvider({
      plugins: [linkGrant(compares)],
      clients: [clientOf(web), clientOf(otherClient)],
      scopes: [{ name: 'api1' }, { name: 'api2' }],
    })
    const link = await storeGrant(f.provider, {
      kind: 'link',
      clientId: web[0],
      scopes: ['api1'],
      lifetime: 60,
      subject: { sub: '1', amr: ['pwd'] },
    })
    const redeem = (scope: string, as: typeof web) => f.post('token', { grant_type: grantType, link, scope }, as)
    return { ...f, redeem }
  }

  test.each(['api1', 'api2'])('is refused by assertClient before the scope %s is compared', async (scope) => {
    const f = await setUp(true)
    const { status, body } = await f.redeem(scope, otherClient)
    expect([status, body]).toEqual([400, { error: 'invalid_grant', error_description: 'The link is not valid' }])
    expect(lastReason(f)).toBe('client_mismatch')
    expect((await f.redeem('api1', web)).status).toBe(200)
  })

  test('is refused by the core if the grant forgets to compare the client', async () => {
    const f = await setUp(false)
    expect((await f.redeem('api1', otherClient)).body.error).toBe('invalid_grant')
    expect(lastReason(f)).toBe('client_mismatch')
    expect((await f.redeem('api1', web)).status).toBe(200)
  })
})
