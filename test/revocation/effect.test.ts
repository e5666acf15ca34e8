import type { AtomicDriver } from '@grantry/core'
import { mapDriver } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { api1, fixture, web, webJwt } from '../support/fixture.ts'
import { dead, expectRevoked, formats, issueTokens, judged, live, refresh } from '../support/revocation.ts'

const clientForm = { grant_type: 'client_credentials', scope: 'api1' }

describe('an access token', () => {
  test.each(formats)(
    '8.2 %s: is rejected everywhere once it is revoked; its refresh token stays valid',
    async (_format, as) => {
      const f = await fixture()
      const issued = await issueTokens(f, as)
      expect(await judged(f, issued.access_token)).toEqual(live)
      expectRevoked(await f.post('revocation', { token: issued.access_token }, as))
      expect(await judged(f, issued.access_token)).toEqual(dead)
      const refreshed = await refresh(f, issued.refresh_token, as)
      expect(refreshed.status).toBe(200)
      expect(await judged(f, refreshed.body.access_token)).toEqual(live)
    },
  )

  test.each(formats)('8.2 %s: also for a client-only token', async (_format, as) => {
    const f = await fixture()
    const [first, second] = [await f.post('token', clientForm, as), await f.post('token', clientForm, as)]
    expectRevoked(await f.post('revocation', { token: first?.body.access_token }, as))
    expect((await f.post('introspection', { token: first?.body.access_token }, api1)).body).toEqual({ active: false })
    expect((await f.post('introspection', { token: second?.body.access_token }, api1)).body.active).toBe(true)
  })

  test.each(formats)('8.2 %s: a second revocation is also 200, without a second event', async (_format, as) => {
    const f = await fixture()
    const { access_token: token } = await issueTokens(f, as)
    expectRevoked(await f.post('revocation', { token }, as))
    expectRevoked(await f.post('revocation', { token }, as))
    expect(await judged(f, token)).toEqual(dead)
    const revoked = f.events.filter(({ type }) => type === 'token_revoked')
    expect(revoked).toMatchObject([{ tokenType: 'access_token', clientId: as[0], sub: '1', endpoint: 'revocation' }])
  })
})

describe('a JWT on the deny list', () => {
  test('8.7 stays on it until it expires, and the record ends with it', async () => {
    const items = new Map<string, string>()
    const storage = mapDriver(items)
    const lives: number[] = []
    const f = await fixture({
      storage: {
        ...storage,
        insertItem(key, value, options) {
          if (key.startsWith('denied:')) lives.push(options.ttl)
          return storage.insertItem(key, value, options)
        },
      },
      clockTolerance: 30,
    })
    const { body } = await f.post('token', clientForm, webJwt)
    f.clock.advance(600)
    expectRevoked(await f.post('revocation', { token: body.access_token }, webJwt))
    // One minute more, because servers that share a store have different clocks.
    expect(lives).toEqual([body.expires_in - 600 + 30 + 60])
    for (const key of items.keys()) if (key.startsWith('denied:')) expect(key).toMatch(/^denied:[0-9a-f]{64}$/u)
    // Up to the last second in which the signature alone would still be accepted.
    f.clock.advance(body.expires_in - 600 + 29)
    expect((await f.post('introspection', { token: body.access_token }, api1)).body).toEqual({ active: false })
  })

  test('8.7 writes no record for an expired JWT', async () => {
    const items = new Map<string, string>()
    const f = await fixture({ storage: mapDriver(items) })
    const { body } = await f.post('token', clientForm, webJwt)
    f.clock.advance(body.expires_in + 60)
    expectRevoked(await f.post('revocation', { token: body.access_token }, webJwt))
    expect([...items.keys()].filter((key) => key.startsWith('denied:'))).toEqual([])
  })

  test('8.7 rejects a denied access token at identity token validation too', async () => {
    const f = await fixture()
    const { access_token: token } = await issueTokens(f, webJwt)
    await f.post('revocation', { token }, webJwt)
    expect((await f.post('identityTokenValidation', { token, client_id: webJwt[0] })).status).toBe(400)
  })

  test('8.7 while the deny list cannot be read, the token is neither valid nor invalid: 503', async () => {
    const good = mapDriver(new Map())
    let down = false
    const storage: AtomicDriver = {
      ...good,
      getItem: (key) => (down ? Promise.reject(new Error('gone')) : good.getItem(key)),
    }
    const f = await fixture({ storage })
    const { body } = await f.post('token', clientForm, webJwt)
    down = true
    expect((await f.post('accessTokenValidation', { token: body.access_token })).status).toBe(503)
  })
})

describe('a refresh token', () => {
  test.each(formats)('8.3 ends its family: its access tokens (%s) and every refresh token', async (_format, as) => {
    const f = await fixture()
    const first = await issueTokens(f, as)
    const { body: second } = await refresh(f, first.refresh_token, as)
    const stranger = await issueTokens(f, as)
    expectRevoked(await f.post('revocation', { token: second.refresh_token }, as))
    for (const token of [first.access_token, second.access_token]) expect(await judged(f, token)).toEqual(dead)
    for (const token of [first.refresh_token, second.refresh_token]) {
      const { status, body } = await refresh(f, token, as)
      expect([status, body.error]).toEqual([400, 'invalid_grant'])
    }
    // Another authorization of the same user and client stays valid.
    expect(await judged(f, stranger.access_token)).toEqual(live)
    expect((await refresh(f, stranger.refresh_token, as)).status).toBe(200)
    const types = f.events.filter(({ endpoint }) => endpoint === 'revocation').map(({ type }) => type)
    expect(types).toEqual(['client_authentication_succeeded', 'family_revoked', 'token_revoked', 'endpoint_succeeded'])
    expect(f.events).toContainEqual(expect.objectContaining({ type: 'family_revoked', reason: 'revocation_requested' }))
  })

  test('8.3 a token that was already rotated also ends its family', async () => {
    const f = await fixture()
    const first = await issueTokens(f)
    const { body: second } = await refresh(f, first.refresh_token)
    expectRevoked(await f.post('revocation', { token: first.refresh_token }, web))
    expect(await judged(f, second.access_token)).toEqual(dead)
    expect((await refresh(f, second.refresh_token)).status).toBe(400)
  })

  test('8.3 rejects a retry of it inside the window afterwards', async () => {
    const f = await fixture()
    const first = await issueTokens(f)
    await refresh(f, first.refresh_token)
    await f.post('revocation', { token: first.refresh_token }, web)
    expect((await refresh(f, first.refresh_token)).status).toBe(400)
  })
})
