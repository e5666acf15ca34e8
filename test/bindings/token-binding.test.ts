import { decodeJwt } from '@grantry/core'
import { mapDriver } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { certificate, dpop, keyHolder } from '../dpop/dpop.ts'
import { api1, builtInPlugins, fixture, web, webJwt } from '../support/fixture.ts'
import { callUserinfo, requestTokens, sendForm } from './send.ts'

const plugins = [builtInPlugins, dpop(), certificate()]
const scope = 'openid profile offline_access api1'
const password = { grant_type: 'password', username: 'alice', password: 'alice-password', scope }
const start = () => fixture({ plugins })

describe('a request that proves a key', () => {
  test.each([
    ['a JWT', webJwt],
    ['a reference token', web],
  ])('3.63 gets tokens that are bound to it: %s', async (_, as) => {
    const [f, key] = [await start(), await keyHolder()]
    const { status, body, headers } = await requestTokens(f, password, { as, key })
    expect([status, body.token_type, headers.get('dpop-nonce')]).toEqual([200, 'DPoP', 'next'])
    const { claims } = await f.provider.inspect(body.access_token)
    expect(claims.cnf).toEqual({ jkt: key.thumbprint })
    expect(decodeJwt(body.id_token ?? '')?.claims.cnf).toBeUndefined()
    const introspection = await f.post('introspection', { token: body.access_token }, api1)
    expect(introspection.body).toMatchObject({ active: true, token_type: 'DPoP', cnf: { jkt: key.thumbprint } })
  })

  test('3.63 keeps the scheme Bearer if the binding has no scheme of its own', async () => {
    const f = await start()
    const { body } = await requestTokens(f, password, { as: web, headers: { 'test-certificate': 'mine' } })
    expect(body.token_type).toBe('Bearer')
    const call = (headers: Record<string, string>) => callUserinfo(f, body.access_token, { scheme: 'Bearer', headers })
    expect((await call({ 'test-certificate': 'mine' })).status).toBe(200)
    expect((await call({ 'test-certificate': 'other' })).status).toBe(401)
    expect((await call({})).status).toBe(401)
  })

  test('3.63 gets tokens that are bound to every key', async () => {
    const [f, key] = [await start(), await keyHolder()]
    const headers = { 'test-certificate': 'mine' }
    const { body } = await requestTokens(f, password, { as: web, key, headers })
    const { claims } = await f.provider.inspect(body.access_token)
    expect([body.token_type, claims.cnf]).toEqual(['DPoP', { jkt: key.thumbprint, 'x5t#S256': 'mine' }])
    expect((await callUserinfo(f, body.access_token, { key, headers })).status).toBe(200)
    expect((await callUserinfo(f, body.access_token, { key })).status).toBe(401)
    expect((await callUserinfo(f, body.access_token, { scheme: 'Bearer', headers })).status).toBe(401)
  })

  test('3.63 gets a bearer token without a proof', async () => {
    const f = await start()
    const { body } = await requestTokens(f, password, { as: web })
    expect(body.token_type).toBe('Bearer')
    expect((await f.provider.inspect(body.access_token)).claims.cnf).toBeUndefined()
    expect((await callUserinfo(f, body.access_token, { scheme: 'Bearer' })).status).toBe(200)
  })

  test('is refused with the error and the headers of the plugin', async () => {
    const f = await start()
    const { status, body, headers } = await requestTokens(f, password, { as: web, headers: { dpop: 'forged' } })
    expect([status, body.error, headers.get('dpop-nonce')]).toEqual([400, 'invalid_dpop_proof', 'next'])
    expect(f.events.at(-1)).toMatchObject({ type: 'endpoint_failed', reason: 'plugin:dpop:malformed' })
  })
})

describe('a bound access token', () => {
  test('5.16 is accepted with a proof of its key, in any spelling of the scheme', async () => {
    const [f, key] = [await start(), await keyHolder()]
    const { body } = await requestTokens(f, password, { as: web, key })
    const { status, headers } = await callUserinfo(f, body.access_token, { scheme: 'dPoP', key })
    expect([status, headers.get('dpop-nonce')]).toEqual([200, 'next'])
    expect(f.events.filter(({ type }) => type === 'validation_succeeded')).toHaveLength(1)
  })

  test.each([
    ['without a proof', 'DPoP', false, 'invalid_token', 'proof_missing'],
    ['with the key of another', 'DPoP', true, 'invalid_token', 'wrong_key'],
    ['as a bearer token', 'Bearer', true, 'invalid_token', 'wrong_scheme'],
  ])('5.16 is refused %s', async (_, scheme, withKey, error, reason) => {
    const [f, key, another] = [await start(), await keyHolder(), await keyHolder()]
    const { body } = await requestTokens(f, password, { as: web, key })
    const response = await callUserinfo(f, body.access_token, { scheme, key: withKey ? another : undefined })
    expect([response.status, response.body.error]).toEqual([401, error])
    expect(f.events.at(-2)).toMatchObject({ type: 'validation_failed', reason })
    expect(f.events.at(-1)).toMatchObject({ type: 'endpoint_failed', reason })
  })

  test('5.16 is refused in the form of a request', async () => {
    const [f, key] = [await start(), await keyHolder()]
    const { body } = await requestTokens(f, password, { as: web, key })
    const response = await sendForm(f, '/connect/userinfo', { access_token: body.access_token }, { key })
    expect(response.status).toBe(401)
  })

  test('5.16 is refused with a used proof, with the challenge of its scheme first', async () => {
    const [f, key] = [await start(), await keyHolder()]
    const { body } = await requestTokens(f, password, { as: web, key })
    const url = 'https://id.example.com/connect/userinfo'
    const dpop = await key.proof({ method: 'GET', url, token: body.access_token })
    expect((await callUserinfo(f, body.access_token, { headers: { dpop } })).status).toBe(200)
    const { status, headers } = await callUserinfo(f, body.access_token, { headers: { dpop } })
    expect([status, headers.get('dpop-nonce')]).toEqual([401, 'next'])
    expect(headers.get('www-authenticate')).toBe(
      'DPoP realm="https://id.example.com", error="invalid_dpop_proof", error_description="The DPoP proof is not valid", algs="ES256", Bearer realm="https://id.example.com"',
    )
  })

  test('6.9 is not valid for a caller of the access token validation, who cannot prove the key', async () => {
    const [f, key] = [await start(), await keyHolder()]
    const { body } = await requestTokens(f, password, { as: web, key })
    const { status, failure } = await f.post('accessTokenValidation', { token: body.access_token })
    expect([status, failure]).toEqual([400, 'token_bound'])
  })

  test('7.13 is not valid after its plugin was removed', async () => {
    const storage = new Map()
    const [f, key] = [await fixture({ plugins, storage: mapDriver(storage) }), await keyHolder()]
    const { body } = await requestTokens(f, password, { as: web, key })
    const without = await fixture({ storage: mapDriver(storage) })
    const response = await without.get('userinfo', {}, { authorization: `Bearer ${body.access_token}` })
    expect([response.status, response.failure]).toEqual([401, 'binding_unknown'])
    const introspection = await without.post('introspection', { token: body.access_token }, api1)
    expect(introspection.body).toEqual({ active: false })
  })
})

test('5.16 a bearer token is refused with the scheme of a binding', async () => {
  const [f, key] = [await start(), await keyHolder()]
  const { body } = await requestTokens(f, password, { as: web })
  const { status, headers } = await callUserinfo(f, body.access_token, { key })
  expect(status).toBe(401)
  expect(headers.get('www-authenticate')).toMatch(/^DPoP realm=".*", error="invalid_token", .*, Bearer realm="[^"]*"$/u)
})

test('5.16 a request without a token gets the challenge of every scheme', async () => {
  const { headers } = await (await start()).get('userinfo')
  expect(headers.get('www-authenticate')).toBe(
    'Bearer realm="https://id.example.com", DPoP realm="https://id.example.com", algs="ES256"',
  )
})

test('pages of other origins can read the headers of a binding', async () => {
  const [f, key] = [await start(), await keyHolder()]
  const headers = { origin: 'https://web.example.com' }
  const { headers: received } = await requestTokens(f, password, { as: web, key, headers })
  expect(received.get('access-control-expose-headers')).toBe('www-authenticate, retry-after, dpop-nonce')
})
