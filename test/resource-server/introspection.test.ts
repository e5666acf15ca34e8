import { describe, expect, test } from 'vitest'
import { createResourceServer, type ResourceServerOptions } from '../../packages/resource-server/src/index.ts'
import { audience, bearing, createIssuer, issuer, keyNamed, metadataUrl, sign, start } from './issuer.ts'

// Reference tokens: RFC 7662.

const endpoint = `${issuer}/introspect`
const credentials = { clientId: 'orders', clientSecret: 'orders secret' }
const active = { active: true, iss: issuer, aud: audience, sub: 'alice', scope: 'read', exp: start + 300 }

async function createApi(
  response: (token: string) => unknown = () => active,
  introspection: ResourceServerOptions['introspection'] = credentials,
  more: Partial<ResourceServerOptions> = {},
) {
  const t = await createIssuer()
  const requests: { headers: Headers; body: URLSearchParams }[] = []
  t.responses.set(endpoint, (init) => {
    const body = new URLSearchParams(String(init.body))
    requests.push({ headers: new Headers(init.headers), body })
    return Response.json(response(body.get('token') ?? ''))
  })
  return { t, requests, api: createResourceServer({ ...t.options, introspection, ...more }) }
}

describe('a reference token', () => {
  test('is introspected with the credentials of the API', async () => {
    const { api, requests } = await createApi()
    const { token } = await api.authorize(bearing('abc'), { scopes: 'read' })
    expect(token?.claims).toEqual(active)
    expect(Object.fromEntries(requests[0]?.body ?? [])).toEqual({ token: 'abc', token_type_hint: 'access_token' })
    // RFC 6749 section 2.3.1: both are encoded as in a form.
    expect(requests[0]?.headers.get('authorization')).toBe(`Basic ${btoa('orders:orders+secret')}`)
    expect(requests[0]?.headers.get('content-type')).toBe('application/x-www-form-urlencoded')
  })

  test('is introspected with other credentials by a function of the host', async () => {
    const { api, requests } = await createApi(undefined, {
      authenticate: async ({ body, url }) => body.set('client_assertion', `for ${url}`),
    })
    expect((await api.authorize(bearing('abc'))).reason).toBeUndefined()
    expect(requests[0]?.body.get('client_assertion')).toBe(`for ${endpoint}`)
    expect(requests[0]?.headers.get('authorization')).toBeNull()
  })

  test.each<[string, unknown, string]>([
    ['is not active', { active: false }, 'token_inactive'],
    ['is active as text', { ...active, active: 'true' }, 'token_inactive'],
    ['has expired', { ...active, exp: start - 10 }, 'expired'],
    ['is not valid yet', { ...active, nbf: start + 11 }, 'not_yet_valid'],
    ['is for another audience', { ...active, aud: 'https://other.example' }, 'audience_mismatch'],
    ['has no audience', { ...active, aud: undefined }, 'audience_mismatch'],
    ['is of another issuer', { ...active, iss: 'https://other.example' }, 'issuer_mismatch'],
    ['has malformed claims', { ...active, exp: 'soon' }, 'claims_malformed'],
    ['is a refresh token', { ...active, token_type: 'refresh_token' }, 'token_type_unsupported'],
  ])('that %s is refused', async (_, response, reason) => {
    const { api } = await createApi(() => response)
    const refused = await api.authorize(bearing('abc'))
    expect([refused.response?.status, refused.reason]).toEqual([401, reason])
  })

  test('can have a member of any name', async () => {
    const { api } = await createApi(() => ({ ...active, reason: 'none', response: {}, token: 'x' }))
    expect((await api.authorize(bearing('abc'))).token?.claims.reason).toBe('none')
  })

  test('without iss, exp and, if the options allow it, aud is accepted', async () => {
    const { api } = await createApi(() => ({ active: true }), { ...credentials, requireAudience: false })
    expect((await api.authorize(bearing('abc'))).token?.claims).toEqual({ active: true })
  })

  test.each([
    ['absent', undefined],
    ['null', null],
    ['an empty list', []],
  ])('an audience that is %s is accepted only if the options allow it', async (_, aud) => {
    const response = { ...active, aud }
    const { api } = await createApi(() => response, { ...credentials, requireAudience: false })
    expect((await api.authorize(bearing('abc'))).reason).toBeUndefined()
    const { api: strict } = await createApi(() => response)
    expect((await strict.authorize(bearing('abc'))).reason).toBe('audience_mismatch')
  })

  test.each([[['https://other.example']], [['']], ['']])('an audience %j is another one', async (aud) => {
    const { api } = await createApi(() => ({ ...active, aud }), { ...credentials, requireAudience: false })
    expect((await api.authorize(bearing('abc'))).reason).toBe('audience_mismatch')
  })

  test('is refused without introspection', async () => {
    const { options } = await createIssuer()
    expect((await createResourceServer(options).authorize(bearing('abc'))).reason).toBe('token_malformed')
  })
})

describe('what the issuer has said', () => {
  test('is asked once by concurrent requests', async () => {
    const { api, requests, t } = await createApi()
    const outcomes = await Promise.all(Array.from({ length: 50 }, () => api.authorize(bearing('abc'))))
    expect(outcomes.every(({ token }) => token !== undefined)).toBe(true)
    expect(requests).toHaveLength(1)
    expect(t.fetched).toEqual([metadataUrl, endpoint])
  })

  test('is remembered for 30 seconds, for each token', async () => {
    const { api, requests, t } = await createApi()
    await api.authorize(bearing('abc'))
    t.now += 29
    await api.authorize(bearing('abc'))
    expect(requests).toHaveLength(1)
    await api.authorize(bearing('abd'))
    expect(requests).toHaveLength(2)
    t.now += 1
    await api.authorize(bearing('abc'))
    expect(requests).toHaveLength(3)
  })

  test('is remembered at most until the token expires', async () => {
    const { api, requests, t } = await createApi(() => ({ ...active, exp: start + 7 }))
    await api.authorize(bearing('abc'))
    t.now += 7
    await api.authorize(bearing('abc'))
    expect(requests).toHaveLength(2)
  })

  test('is not remembered with maxAge 0', async () => {
    const { api, requests } = await createApi(undefined, { ...credentials, maxAge: 0 })
    await api.authorize(bearing('abc'))
    await api.authorize(bearing('abc'))
    expect(requests).toHaveLength(2)
  })

  test('about inactive tokens is remembered for 5 seconds', async () => {
    let isActive = false
    const { api, requests, t } = await createApi(() => (isActive ? active : { active: false }))
    await api.authorize(bearing('abc'))
    isActive = true
    t.now += 4
    expect((await api.authorize(bearing('abc'))).reason).toBe('token_inactive')
    expect(requests).toHaveLength(1)
    t.now += 1
    expect((await api.authorize(bearing('abc'))).reason).toBeUndefined()
  })

  test('is not forgotten because of many guesses', async () => {
    const { api, requests } = await createApi((token) => (token === 'abc' ? active : { active: false }))
    await api.authorize(bearing('abc'))
    for (let guess = 0; guess < 10_001; guess++) await api.authorize(bearing(`guess-${guess}`))
    const { length } = requests
    await api.authorize(bearing('abc'))
    expect(requests).toHaveLength(length)
  })

  test('cannot be changed by a handler', async () => {
    const { api } = await createApi(() => ({ ...active, roles: ['reader'] }))
    const { token } = await api.authorize(bearing('abc'))
    const roles = token?.claims.roles as string[]
    roles.push('admin')
    expect((await api.authorize(bearing('abc'))).token?.claims.roles).toEqual(['reader'])
  })
})

describe('an issuer that cannot be asked', () => {
  test.each<[string, () => Response | Promise<Response>]>([
    ['refuses the credentials of the API', () => new Response(null, { status: 401 })],
    ['redirects', () => new Response(null, { status: 307, headers: { location: 'https://evil.example/' } })],
    ['sends no JSON', () => new Response('active')],
    ['does not respond', () => new Promise(() => {})],
    ['fails', () => Promise.reject(new Error('refused'))],
  ])('%s: 503, and the failure is not remembered', async (_, response) => {
    const { api, t } = await createApi(undefined, credentials, { timeout: 0.05 })
    const usual = t.responses.get(endpoint)
    t.responses.set(endpoint, response)
    const refused = await api.authorize(bearing('abc'))
    expect([refused.response?.status, refused.reason]).toEqual([503, 'introspection_unavailable'])
    if (usual !== undefined) t.responses.set(endpoint, usual)
    expect((await api.authorize(bearing('abc'))).reason).toBeUndefined()
  })

  test.each<[string, () => void | Promise<void>]>([
    ['throws', () => Promise.reject(new Error('no key'))],
    ['hangs', () => new Promise(() => {})],
  ])('because authenticate() %s', async (_, authenticate) => {
    const { api } = await createApi(undefined, { authenticate }, { timeout: 0.05 })
    expect((await api.authorize(bearing('abc'))).reason).toBe('introspection_unavailable')
  })
})

describe('both formats', () => {
  test('a JWT is validated here, also if it is not valid', async () => {
    const { api, requests } = await createApi()
    const key = await keyNamed('one')
    expect((await api.authorize(bearing(await sign(key)))).token?.claims.client_id).toBe('web')
    expect((await api.authorize(bearing(await sign(key, { exp: 1 })))).reason).toBe('expired')
    expect(requests).toEqual([])
  })

  test('jwt: false introspects JWTs, too', async () => {
    const { api, requests } = await createApi(undefined, credentials, { jwt: false })
    expect((await api.authorize(bearing(await sign(await keyNamed('one'))))).token?.claims).toEqual(active)
    expect(requests).toHaveLength(1)
  })

  test.each([
    ['points', 'a.b.c'],
    ['a header without alg', `${btoa('{"id":1}').replace(/=+$/u, '')}.b.c`],
    ['five parts: an encrypted JWT', `${btoa('{"alg":"dir","enc":"A128GCM"}').replace(/=+$/u, '')}.b.c.d.e`],
  ])('a reference token can contain %s', async (_, token) => {
    const { api } = await createApi()
    expect((await api.authorize(bearing(token))).token?.claims).toEqual(active)
  })
})

test.each<[string, Partial<ResourceServerOptions>, RegExp]>([
  ['no format', { jwt: false }, /jwt: false requires introspection/u],
  ['no secret', { introspection: { clientId: 'a' } }, /introspection\.clientSecret must be/u],
  ['two methods', { introspection: { ...credentials, authenticate: () => {} } }, /both clientId and authenticate/u],
  ['no https', { introspection: { ...credentials, endpoint: 'http://a.example/' } }, /endpoint must be a URL/u],
  ['a long memory', { introspection: { ...credentials, maxAge: 86_400 } }, /introspection\.maxAge must be/u],
])('%s is an error at start', async (_, options, message) => {
  const { options: usual } = await createIssuer()
  expect(() => createResourceServer({ ...usual, ...options })).toThrow(message)
})
