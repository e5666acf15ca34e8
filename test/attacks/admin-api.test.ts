/**
 * Attack: someone without the right to administrate uses the admin API: with a token of another client or user, with the
 * wrong scope, of another kind, revoked, or in the wrong place; or from a page in the browser of an administrator. Or one
 * administrator takes over another, or keeps rights that the configuration takes away.
 */
import { describe, expect, test } from 'vitest'
import { batch, issuer, setting } from '../admin-api/setting.ts'
import { requestTokens } from '../bindings/send.ts'
import { dpop, keyHolder } from '../dpop/dpop.ts'
import { redirectUri, web } from '../support/fixture.ts'

const api = `${issuer}/admin/v1`
const add = { body: batch }

describe('a token', () => {
  test.each([
    ['of a client that is not named, with the scope', 'stranger', 'admin', undefined, 403],
    ['of a user who is not named, from a client that is', 'ops', 'admin', 'bob', 403],
    ['of a named user, from a client that is not', 'stranger', 'admin', 'alice', 403],
    ['with another scope', 'ops', 'api1', undefined, 403],
    ['with the scope for reading', 'ops', 'admin:read', undefined, 403],
    ['with both names and the scope', 'ops', 'admin', 'alice', 201],
  ])('%s', async (_, clientId, scope, username, status) => {
    const { send, tokenOf, trail } = await setting()
    const token = await tokenOf(clientId, scope, username)
    expect((await send('POST', '/clients', { ...add, token })).status).toBe(status)
    expect((await trail()).length).toBe(status === 201 ? 1 : 0)
  })

  test('for reading reads, and one without either scope does not', async () => {
    const { send, tokenOf } = await setting()
    expect((await send('GET', '/clients', { token: await tokenOf('ops', 'admin:read') })).status).toBe(200)
    for (const path of ['/clients', '/openapi.json', '/nothing', '']) {
      expect((await send('GET', path, { token: await tokenOf('ops', 'api1') })).status).toBe(403)
      expect((await send('GET', path, { token: await tokenOf('stranger', 'admin') })).status).toBe(403)
      expect((await send('GET', path, { token: '' })).status).toBe(401)
    }
  })

  test('that a client has not registered for is never issued', async () => {
    const { tokenOf } = await setting()
    await expect(tokenOf(web[0], 'admin')).rejects.toThrow('invalid_scope')
    await expect(tokenOf(web[0], 'api1 admin:read')).rejects.toThrow('invalid_scope')
  })

  test('that was revoked does nothing, immediately', async () => {
    const { send, tokenOf, post, provider } = await setting()
    const [tokenOfClient, tokenOfUser] = [await tokenOf('ops', 'admin'), await tokenOf('ops', 'admin', 'alice')]
    await post('revocation', { token: tokenOfClient }, ['ops', web[1]])
    expect((await send('POST', '/clients', { ...add, token: tokenOfClient })).status).toBe(401)
    expect((await send('POST', '/clients', { ...add, token: tokenOfUser })).status).toBe(201)
    await provider.revoke({ subject: 'alice' })
    expect((await send('GET', '/clients/batch', { token: tokenOfUser })).status).toBe(401)
  })

  test('of another kind does nothing', async () => {
    const { send, post, code } = await setting()
    const form = { grant_type: 'authorization_code', code: await code(), redirect_uri: redirectUri }
    const { body } = await post('token', form, web)
    expect((await send('GET', '/clients', { token: body.id_token })).status).toBe(401)
    expect((await send('GET', '/clients', { token: body.access_token })).status).toBe(403)
  })

  test('in the URL or in the body does nothing', async () => {
    const { send, tokenOf } = await setting()
    const token = await tokenOf('ops', 'admin')
    expect((await send('GET', `/clients?access_token=${token}`, { token: '' })).status).toBe(401)
    expect((await send('POST', '/clients', { body: { ...batch, access_token: token }, token: '' })).status).toBe(401)
    expect((await send('GET', '/clients', { token: '', headers: { authorization: `Basic ${token}` } })).status).toBe(
      401,
    )
  })

  test('that is bound to a key does nothing without a proof of it, for the same request', async () => {
    const f = await setting({ plugins: dpop() })
    const key = await keyHolder()
    const form = { grant_type: 'client_credentials', scope: 'admin' }
    const { access_token: token } = (await requestTokens(f, form, { as: ['ops', web[1]], key })).body
    const statusWith = async (headers: Readonly<Record<string, string>>) =>
      (await f.send('GET', '/clients', { token: '', headers })).status
    const proofFor = (url: string) => key.proof({ method: 'GET', url, token })
    const authorization = `DPoP ${token}`
    expect(await statusWith({ authorization, dpop: await proofFor(`${api}/clients`) })).toBe(200)
    expect(await statusWith({ authorization, dpop: await proofFor(`${api}/clients/batch`) })).toBe(401)
    expect(await statusWith({ authorization })).toBe(401)
    expect(await statusWith({ authorization: `Bearer ${token}` })).toBe(401)
  })
})

describe('a page in the browser of an administrator', () => {
  test('sends no credentials, and cannot read a response', async () => {
    const { provider, tokenOf } = await setting()
    const origin = 'https://evil.example.com'
    const cookie = `session=1; access_token=${await tokenOf('ops', 'admin')}`
    const form = { method: 'POST', body: '{"clientId":"x"}', headers: { cookie, origin, 'content-type': 'text/plain' } }
    // What a form can send without a preflight; and what it cannot.
    expect((await provider.fetch(new Request(`${api}/clients`, form))).status).toBe(415)
    const json = { ...form, headers: { ...form.headers, 'content-type': 'application/json' } }
    expect((await provider.fetch(new Request(`${api}/clients`, json))).status).toBe(401)
    const headers = {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization',
    }
    const preflight = await provider.fetch(new Request(`${api}/clients`, { method: 'OPTIONS', headers }))
    expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([405, null])
    const read = await provider.fetch(new Request(`${api}/clients`, { headers: { origin: 'https://web.example.com' } }))
    expect(read.headers.get('access-control-allow-origin')).toBeNull()
  })

  test('does not get into a URL by another name of the host', async () => {
    const { provider, tokenOf } = await setting()
    const headers = { authorization: `Bearer ${await tokenOf('ops', 'admin')}`, 'content-type': 'application/json' }
    const add = { method: 'POST', headers, body: JSON.stringify(batch) }
    const added = await provider.fetch(new Request('http://evil.example.com/admin/v1/clients', add))
    expect(added.headers.get('location')).toBe(`${api}/clients/batch`)
    const described = await provider.fetch(new Request('http://evil.example.com/admin/v1/openapi.json', { headers }))
    expect(await described.text()).not.toContain('evil')
  })
})

describe('one administrator', () => {
  test('cannot become another: clients and users that administrate are changed in the configuration', async () => {
    const { send, tokenOf, trail } = await setting()
    const token = await tokenOf('ops', 'admin', 'alice')
    const etag = { 'if-match': '*' }
    const attempts = [
      send('POST', '/clients', { body: { ...batch, clientId: 'ops-in-storage', scopes: ['admin'] }, token }),
      send('PATCH', '/clients/ops-in-storage', { body: { enabled: true }, headers: etag, token }),
      send('DELETE', '/clients/ops-in-storage', { headers: etag, token }),
      send('POST', '/clients/ops-in-storage/rotate-secret', { body: {}, token }),
      send('POST', '/users', { body: { sub: 'alice', username: 'alice' }, token }),
      send('PUT', '/users/alice/password', { body: { password: 'a long password' }, token }),
      send('PATCH', '/users/alice', { body: { username: 'bob' }, headers: etag, token }),
    ]
    for (const { status, body } of await Promise.all(attempts)) {
      expect([status, body.detail]).toEqual([409, expect.stringContaining('administrates, by the configuration')])
    }
    // In the configuration only.
    expect((await send('PATCH', '/clients/ops', { body: {}, headers: etag })).status).toBe(409)
    expect((await send('POST', '/clients', { body: { ...batch, clientId: 'web' } })).status).toBe(409)
    expect((await send('POST', '/scopes', { body: { name: 'admin' } })).status).toBe(400)
    expect(await trail()).toEqual([])
  })

  test('gains nothing by giving a client the scope: the configuration does not name it', async () => {
    const { send, post, clock } = await setting()
    const { body } = await send('POST', '/clients', { body: { ...batch, scopes: ['admin'] } })
    clock.advance(1)
    const form = { grant_type: 'client_credentials', scope: 'admin' }
    const issued = await post('token', form, ['batch', body.secret])
    expect((await send('GET', '/clients', { token: issued.body.access_token })).status).toBe(403)
  })

  test('cannot write the name of another into the audit trail', async () => {
    const { send, tokenOf, trail } = await setting()
    await send('POST', '/clients', { ...add, token: await tokenOf('ops', 'admin', 'alice') })
    expect(await trail()).toMatchObject([{ who: 'client:ops user:alice', from: '192.0.2.7', action: 'client_added' }])
  })
})

test.each<Readonly<Record<string, unknown>>>([
  { clientId: 'other' },
  { version: 'x' },
  { createdAt: '2020-01-01T00:00:00.000Z' },
  { changedAt: '2020-01-01T00:00:00.000Z' },
  { secrets: [{ sha256: 'LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=' }] },
  { secret: 'known to the attacker' },
  { constructor: { prototype: { enabled: true } } },
])('a patch cannot contain %j', async (body) => {
  const { send } = await setting()
  const { headers } = await send('POST', '/clients', add)
  const before = (await send('GET', '/clients/batch')).body
  const refused = await send('PATCH', '/clients/batch', { body, headers: { 'if-match': headers.get('etag') ?? '' } })
  expect([refused.status, refused.body.member]).toEqual([400, Object.keys(body)[0]])
  expect((await send('GET', '/clients/batch')).body).toEqual(before)
})

test('a hostile id is data: in JSON that no browser renders, and encoded in headers', async () => {
  const { send, trail } = await setting()
  const clientId = '"><script>alert(1)</script>'
  const added = await send('POST', '/clients', { body: { clientId } })
  expect(added.headers.get('content-type')).toBe('application/json')
  expect(added.headers.get('x-content-type-options')).toBe('nosniff')
  expect(added.headers.get('location')).toBe(`${api}/clients/${encodeURIComponent(clientId)}`)
  expect((await send('POST', '/clients', { body: { clientId: 'a\r\nset-cookie: a=b' } })).status).toBe(400)
  expect(await trail()).toMatchObject([{ id: clientId }])
})
