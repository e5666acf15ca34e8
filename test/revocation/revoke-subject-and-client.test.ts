import type { RevocationTarget } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { mapDriver } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { api1, clients, type Fixture, fixture, otherClient, redirectUri, web, webJwt } from '../support/fixture.ts'
import { dead, formats, issueTokens, judged, live, refresh } from '../support/revocation.ts'

const clientForm = { grant_type: 'client_credentials', scope: 'api1' }
const codeForm = (code: string) => ({ grant_type: 'authorization_code', code, redirect_uri: redirectUri })
const introspected = async (f: Fixture, token: string) => (await f.post('introspection', { token }, api1)).body.active

async function withIdentityToken(f: Fixture, as: readonly [string, string]) {
  const code = await f.code({ clientId: as[0] })
  const { body } = await f.post('token', codeForm(code), as)
  return body as { access_token: string; refresh_token: string; id_token: string }
}

const identityStatus = async (f: Fixture, token: string, clientId: string) =>
  (await f.post('identityTokenValidation', { token, client_id: clientId })).status

describe.each(formats)('revoke() with access tokens as %s', (_format, as) => {
  const targets: readonly (readonly [string, RevocationTarget])[] = [
    ['a subject', { subject: '1' }],
    ['a client', { clientId: as[0] }],
  ]

  test.each(targets)('of %s rejects every token issued so far, also in the same second', async (_what, target) => {
    const f = await fixture()
    const first = await withIdentityToken(f, as)
    const { body: second } = await refresh(f, first.refresh_token, as)
    const waiting = await f.code({ clientId: as[0] })
    await f.provider.revoke(target)
    for (const token of [first.access_token, second.access_token]) expect(await judged(f, token)).toEqual(dead)
    for (const token of [first.refresh_token, second.refresh_token]) {
      const { status, body } = await refresh(f, token, as)
      expect([status, body.error]).toEqual([400, 'invalid_grant'])
    }
    expect(await identityStatus(f, first.id_token, as[0])).toBe(400)
    expect((await f.post('token', codeForm(waiting), as)).body.error).toBe('invalid_grant')
  })

  test.each(targets)(
    'of %s does not affect later tokens, refreshed ones included, in the same second',
    async (_what, target) => {
      const f = await fixture()
      await f.provider.revoke(target)
      const begun = await withIdentityToken(f, as)
      expect(await judged(f, begun.access_token)).toEqual(live)
      expect(await identityStatus(f, begun.id_token, as[0])).toBe(200)
      const { status, body } = await refresh(f, begun.refresh_token, as)
      expect(status).toBe(200)
      expect(await judged(f, body.access_token)).toEqual(live)
      expect((await refresh(f, body.refresh_token, as)).status).toBe(200)
      // A second revocation ends these as well.
      await f.provider.revoke(target)
      expect(await judged(f, body.access_token)).toEqual(dead)
    },
  )

  test('of a client ends its client-only tokens, and new ones work', async () => {
    const f = await fixture()
    const { body: old } = await f.post('token', clientForm, as)
    await f.provider.revoke({ clientId: as[0] })
    const { body: fresh } = await f.post('token', clientForm, as)
    expect([await introspected(f, old.access_token), await introspected(f, fresh.access_token)]).toEqual([false, true])
  })

  test('of a subject and of a client does not affect others', async () => {
    const f = await fixture()
    const alice = await issueTokens(f, as)
    const elsewhere = await issueTokens(f, otherClient)
    const { body: ofClient } = await f.post('token', clientForm, as)
    await f.provider.revoke({ subject: '2' })
    expect(await judged(f, alice.access_token)).toEqual(live)
    expect(await introspected(f, ofClient.access_token)).toBe(true)
    await f.provider.revoke({ clientId: as[0] })
    expect(await judged(f, elsewhere.access_token)).toEqual(live)
    expect((await refresh(f, elsewhere.refresh_token, otherClient)).status).toBe(200)
  })

  test('of a family, by the grant_id of its tokens, ends only that family', async () => {
    const f = await fixture()
    const [ended, kept] = [await issueTokens(f, as), await issueTokens(f, as)]
    const { family = '' } = await f.provider.inspect(ended.refresh_token)
    await f.provider.revoke({ family })
    expect(await judged(f, ended.access_token)).toEqual(dead)
    expect((await refresh(f, ended.refresh_token, as)).status).toBe(400)
    expect(await judged(f, kept.access_token)).toEqual(live)
  })
})

describe('revoke()', () => {
  test('writes the epoch between two revisions, reads none, and lists nothing', async () => {
    const operations: string[] = []
    const good = mapDriver(new Map())
    const f = await fixture({
      storage: {
        ...good,
        getItem(key) {
          operations.push(`get ${key.split(':')[0]}`)
          return good.getItem(key)
        },
        setItem(key, value, options) {
          operations.push(`set ${key.split(':')[0]}`)
          return good.setItem(key, value, options)
        },
      },
    })
    operations.length = 0
    await f.provider.revoke({ subject: '1' })
    expect(operations).toEqual(['set revision', 'set epoch', 'set revision'])
  })

  test('its record outlives every token: the longest lifetime that a setting allows, from a server whose clock is ahead', async () => {
    const tenYears = 315_360_000
    const storage = memoryDriver()
    const lasting = clients.map((client) => ({ ...client, accessTokenLifetime: tenYears }))
    const [ours, ahead] = [await fixture({ storage, clients: lasting }), await fixture({ storage, clients: lasting })]
    ahead.clock.advance(60)
    const { body: last } = await ahead.post('token', clientForm, webJwt)
    await ours.provider.revoke({ clientId: 'web-jwt' })
    ahead.clock.advance(tenYears - 1)
    expect(await introspected(ahead, last.access_token)).toBe(false)
  })

  test('does not depend on clocks: rejects what another server issued before, even with its clock half an hour ahead', async () => {
    const storage = memoryDriver()
    const [ours, ahead] = [await fixture({ storage }), await fixture({ storage })]
    ahead.clock.advance(1800)
    const { body } = await ahead.post('token', clientForm, web)
    await ours.provider.revoke({ clientId: 'web' })
    expect(await introspected(ahead, body.access_token)).toBe(false)
    // Conversely, tokens that a server with a slow clock issues afterwards are valid.
    const { body: fresh } = await ours.post('token', clientForm, web)
    expect(await introspected(ahead, fresh.access_token)).toBe(true)
  })

  test('of one provider does not affect another on the same store', async () => {
    const storage = memoryDriver()
    const [ours, theirs] = [await fixture({ storage }), await fixture({ storage, issuer: 'https://other.example.com' })]
    const { body } = await theirs.post('token', clientForm, web)
    await ours.provider.revoke({ clientId: 'web' })
    expect(await introspected(theirs, body.access_token)).toBe(true)
  })

  test('attack: an unreadable record rejects earlier tokens instead of accepting them', async () => {
    const items = new Map<string, string>()
    const f = await fixture({ storage: mapDriver(items) })
    const { access_token, refresh_token } = await issueTokens(f, webJwt)
    await f.provider.revoke({ subject: '1' })
    for (const key of items.keys()) if (key.startsWith('epoch:')) items.set(key, '{"version":1,"exp')
    expect(await judged(f, access_token)).toEqual(dead)
    expect((await refresh(f, refresh_token, webJwt)).status).toBe(400)
  })

  test('rejects while the store is unreachable, and no token is accepted', async () => {
    const good = mapDriver(new Map())
    let down = false
    const gone = () => Promise.reject(new Error('gone'))
    const f = await fixture({
      storage: {
        ...good,
        getItem: (key) => (down ? gone() : good.getItem(key)),
        setItem: (key, value, options) => (down ? gone() : good.setItem(key, value, options)),
      },
    })
    const { body } = await f.post('token', clientForm, webJwt)
    down = true
    await expect(f.provider.revoke({ clientId: 'web-jwt' })).rejects.toMatchObject({ code: 'temporarily_unavailable' })
    expect((await f.post('accessTokenValidation', { token: body.access_token })).status).toBe(503)
  })

  test('rejects a client-only JWT issued while the store was unreachable if its client was ever revoked', async () => {
    const good = mapDriver(new Map())
    let down = false
    const f = await fixture({
      storage: {
        ...good,
        getItem: (key) => (down ? Promise.reject(new Error('gone')) : good.getItem(key)),
      },
    })
    const issue = async () => {
      down = true
      const { body } = await f.post('token', clientForm, webJwt)
      down = false
      return body.access_token as string
    }
    expect(await introspected(f, await issue())).toBe(true)
    await f.provider.revoke({ clientId: 'web-jwt' })
    expect(await introspected(f, await issue())).toBe(false)
  })

  test('attack: no plugin, user or code can set the epoch of a token', async () => {
    const f = await fixture()
    await expect(f.code({ claims: { sub_epoch: 'x' } })).rejects.toMatchObject({ code: 'invalid_request' })
    await expect(f.code({ claims: { withdrawal_epoch: 'x' } })).rejects.toMatchObject({ code: 'invalid_request' })
    await expect(f.code({ claims: { client_epoch: 'x' } })).rejects.toMatchObject({ code: 'invalid_request' })
  })

  test('reports to the observer who was revoked', async () => {
    const f = await fixture()
    await f.provider.revoke({ subject: '1' })
    await f.provider.revoke({ clientId: 'web' })
    await f.provider.revoke({ subject: '1', clientId: 'web' })
    await f.provider.revoke({ family: 'some-family' })
    const reported = f.events.filter(({ endpoint }) => endpoint === 'revoke')
    expect(reported).toMatchObject([
      { type: 'subject_revoked', sub: '1' },
      { type: 'client_revoked', clientId: 'web' },
      { type: 'access_withdrawn', sub: '1', clientId: 'web' },
      { type: 'family_revoked', reason: 'revocation_requested', family: '3728a814' },
    ])
  })

  test('rejects an overlong name', async () => {
    const f = await fixture()
    await expect(f.provider.revoke({ family: 'f'.repeat(513) })).rejects.toThrow('must be at most 512 characters')
  })

  test.each([
    [{}],
    [{ subject: '1', family: 'some-family' }],
    [{ clientId: 'web', family: 'some-family' }],
    [{ subject: '1', clientId: '' }],
    [{ subject: '' }],
    [{ sub: '1' }],
    [undefined],
    [{ subject: 1 }],
  ])('of %j is rejected with an error message', async (target) => {
    const f = await fixture()
    await expect(f.provider.revoke(target as never)).rejects.toThrow(/^revoke\(\):? /u)
  })
})
