/**
 * Attack: names that every JavaScript object has (`__proto__`, `constructor`, `toString`) as client, scope, grant type,
 * user, parameter or key, to find inherited properties in a plain object: a "client" that is a function, a grant type
 * on the prototype, or a polluted prototype for every later request.
 *
 * No RFC: hardening against prototype lookups and prototype pollution (CWE-1321).
 */

import { basic } from '@grantry/testing'
import { afterEach, describe, expect, test } from 'vitest'
import { api1, fixture, redirectUri, web } from '../support/fixture.ts'

const names = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'valueOf',
  'hasOwnProperty',
  '__defineGetter__',
  'then',
  'toJSON',
]

afterEach(() => {
  const polluted = Object.create(null)
  for (const name in {}) polluted[name] = true
  expect(polluted).toEqual({})
  expect(Reflect.ownKeys(Object.prototype)).not.toContain('polluted')
})

describe.each(names)('%s', (name) => {
  test('is not a client', async () => {
    const f = await fixture()
    const form = { grant_type: 'client_credentials', scope: 'api1' }
    for (const secret of ['', 'x', name]) {
      expect(await f.post('token', form, [name, secret])).toMatchObject({
        status: 401,
        body: { error: 'invalid_client' },
      })
    }
    expect((await f.post('token', { ...form, client_id: name })).status).toBe(401)
  })

  test('is not a grant type', async () => {
    const f = await fixture()
    expect(await f.post('token', { grant_type: name, scope: 'api1' }, web)).toMatchObject({
      status: 400,
      body: { error: 'unsupported_grant_type' },
    })
  })

  test('is not a scope', async () => {
    const f = await fixture()
    for (const scope of [name, `api1 ${name}`]) {
      expect(await f.post('token', { grant_type: 'client_credentials', scope }, web)).toMatchObject({
        status: 400,
        body: { error: 'invalid_scope' },
      })
    }
    expect((await f.post('introspection', { token: 'x' }, [name, ''])).status).toBe(401)
  })

  test('is not a user, a code or a token', async () => {
    const f = await fixture()
    const refusals = await Promise.all([
      f.post('token', { grant_type: 'password', username: name, password: name, scope: 'openid' }, web),
      f.post('token', { grant_type: 'authorization_code', code: name, redirect_uri: redirectUri }, web),
      f.post('token', { grant_type: 'refresh_token', refresh_token: name }, web),
    ])
    for (const { status, body } of refusals)
      expect({ status, error: body.error }).toEqual({ status: 400, error: 'invalid_grant' })
    expect((await f.post('introspection', { token: name }, api1)).body).toEqual({ active: false })
    expect((await f.get('accessTokenValidation', { token: name })).status).toBe(400)
    expect((await f.get('identityTokenValidation', { token: name, client_id: name })).status).toBe(400)
    expect((await f.get('userinfo', {}, { authorization: `Bearer ${name}` })).status).toBe(401)
  })

  test('as a parameter has no effect', async () => {
    const f = await fixture()
    for (const extra of [name, `${name}[polluted]`, `${name}.polluted`, `${name}[grant_type]`]) {
      const body = `grant_type=client_credentials&scope=api1&${encodeURIComponent(extra)}=1&${extra}x=1`
      const headers = { authorization: basic(web), 'content-type': 'application/x-www-form-urlencoded' }
      const response = await f.provider.fetch(
        new Request('https://id.example.com/connect/token', { method: 'POST', headers, body }),
      )
      expect(response.status).toBe(200)
    }
  })

  test('does not replace a missing parameter', async () => {
    const f = await fixture()
    const { status, body } = await f.post('token', { [name]: 'client_credentials' }, web)
    expect({ status, body }).toEqual({
      status: 400,
      body: { error: 'invalid_request', error_description: 'The parameter grant_type is required' },
    })
  })

  test('is not a path', async () => {
    const f = await fixture()
    for (const path of [`/${name}`, `/connect/${name}`, `/connect/token/${name}`]) {
      expect((await f.provider.fetch(new Request(`https://id.example.com${path}`))).status).toBe(404)
    }
  })

  test('as a header and as an origin has no effect', async () => {
    const f = await fixture()
    const headers = { [name]: 'x', origin: name }
    const response = await f.provider.fetch(new Request('https://id.example.com/connect/userinfo', { headers }))
    expect(response.status).toBe(401)
    expect(response.headers.has('access-control-allow-origin')).toBe(false)
  })

  test('as an expected scope is not in a token', async () => {
    const f = await fixture()
    const { access_token: token } = (await f.post('token', { grant_type: 'client_credentials', scope: 'api1' }, web))
      .body
    expect((await f.post('accessTokenValidation', { token, expectedScope: name })).body.error).toBe(
      'insufficient_scope',
    )
  })
})
