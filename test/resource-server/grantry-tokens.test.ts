import { dpop } from '@grantry/plugins/dpop'
import { sha256Of } from '@grantry/testing'
import { expect, test } from 'vitest'
import { createResourceServer, type ResourceServerOptions } from '../../packages/resource-server/src/index.ts'
import { holder, issuer, request as requestToken } from '../dpop/parties.ts'
import { api1, builtInPlugins, type Fixture, fixture, scopes, web, webJwt } from '../support/fixture.ts'
import { presenting } from './bound.ts'

// Tokens of Grantry, in both formats, over its discovery document, its keys and its introspection endpoint.

const audience = 'https://api1.example.com'
const url = `${audience}/orders`
const introspection = { clientId: api1[0], clientSecret: api1[1], maxAge: 0, inactiveMaxAge: 0 }

async function start(options: Partial<ResourceServerOptions> = {}, format: 'jwt' | 'reference' = 'jwt') {
  const f = await fixture({ plugins: [builtInPlugins, dpop()], scopes })
  const api = createResourceServer({
    issuer,
    audience,
    now: f.clock.now,
    fetch: (url, init) => f.provider.fetch(new Request(url, init)),
    introspection,
    ...options,
  })
  const client = format === 'jwt' ? webJwt : web
  const form = { grant_type: 'password', username: 'alice', password: 'alice-password', scope: 'api1 api2' }
  const issue = async (proof?: string): Promise<string> =>
    String((await requestToken(f, proof, form, client)).body.access_token)
  return { f, api, issue, client }
}

const hashOf = (text: string): string => sha256Of(text).replace(/\+/gu, '-').replace(/\//gu, '_').replace(/=/gu, '')

const revoke = (f: Fixture, token: string, client: typeof web) => f.post('revocation', { token }, client)

test.each(['jwt', 'reference'] as const)('a token of the format %s is accepted with its claims', async (format) => {
  const { api, issue, client } = await start({}, format)
  const accepted = await api.authorize(presenting(await issue(), undefined, 'Bearer', url), { scopes: 'api1' })
  expect(accepted.reason).toBeUndefined()
  expect(accepted.token?.claims).toMatchObject({ iss: issuer, sub: '1', client_id: client[0] })
  expect(accepted.token?.scopes).toContain('api1')
  const lacking = await api.authorize(presenting(await issue(), undefined, 'Bearer', url), { scopes: 'admin' })
  expect(lacking.response?.status).toBe(403)
})

test.each(['jwt', 'reference'] as const)('a token of the format %s is refused after it has expired', async (format) => {
  const { f, api, issue } = await start({}, format)
  const token = await issue()
  f.clock.advance(3611)
  expect((await api.authorize(presenting(token, undefined, 'Bearer', url))).response?.status).toBe(401)
})

test.each([
  ['a reference token', 'reference', {}],
  ['a JWT that is introspected', 'jwt', { jwt: false }],
] as const)('%s is refused after it was revoked', async (_, format, options) => {
  const { f, api, issue, client } = await start(options, format)
  const token = await issue()
  const use = () => api.authorize(presenting(token, undefined, 'Bearer', url))
  expect((await use()).reason).toBeUndefined()
  expect((await revoke(f, token, client)).status).toBe(200)
  expect((await use()).reason).toBe('token_inactive')
})

test.each(['jwt', 'reference'] as const)(
  'a token of the format %s that is bound to a key needs a proof',
  async (format) => {
    const { f, api, issue } = await start({ dpop: { baseUrl: audience } }, format)
    const client = await holder('ES256', f.clock.now)
    const token = await issue(await client.prove())
    const prove = () => client.prove({ htm: 'GET', htu: url, ath: hashOf(token) })
    const proof = await prove()
    const accepted = await api.authorize(presenting(token, proof, 'DPoP', url), { scopes: 'api1' })
    expect(accepted.reason).toBeUndefined()
    expect(accepted.token?.claims.cnf).toEqual({ jkt: client.thumbprint })
    expect((await api.authorize(presenting(token, proof, 'DPoP', url))).reason).toBe('replayed')
    expect((await api.authorize(presenting(token, undefined, 'Bearer', url))).reason).toBe('scheme_mismatch')
  },
)

test('an identity token and a refresh token are refused', async () => {
  const { f, api } = await start()
  const form = {
    grant_type: 'password',
    username: 'alice',
    password: 'alice-password',
    scope: 'openid offline_access api1',
  }
  const { body } = await f.post('token', form, webJwt)
  expect(body.refresh_token).toBeTypeOf('string')
  expect((await api.authorize(presenting(body.refresh_token, undefined, 'Bearer', url))).reason).toBe('token_inactive')
  const claimed = await f.code({ clientId: webJwt[0] })
  const redeemed = await f.post(
    'token',
    { grant_type: 'authorization_code', code: claimed, redirect_uri: 'https://web.example.com/callback' },
    webJwt,
  )
  expect(redeemed.body.id_token).toBeTypeOf('string')
  const identity = await api.authorize(presenting(redeemed.body.id_token, undefined, 'Bearer', url))
  expect(identity.reason).toBe('typ_unsupported')
})
