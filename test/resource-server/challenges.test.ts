import { describe, expect, test } from 'vitest'
import { bearing, createApi, keyNamed, sign, start, url } from './issuer.ts'

// RFC 6750 section 3.

const key = await keyNamed('one')
const authorizationOf = (...values: string[]): Request => {
  const headers = new Headers()
  for (const value of values) headers.append('authorization', value)
  return new Request(url, { headers })
}

describe('a request without credentials', () => {
  test.each([
    ['no header', []],
    ['an empty header', ['']],
    ['another scheme', ['Basic d2ViOndlYg==']],
    ['a scheme that only begins with Bearer', ['Bearers abc']],
  ])('gets 401 without an error: %s', async (_, values) => {
    const { api } = await createApi({ realm: 'orders' })
    const { response, reason } = await api.authorize(authorizationOf(...values), { scopes: ['read', 'write'] })
    expect([response?.status, reason]).toEqual([401, 'credentials_missing'])
    expect(response?.headers.get('www-authenticate')).toBe('Bearer realm="orders", scope="read write"')
    expect(response?.headers.get('cache-control')).toBe('no-store')
    expect(await response?.text()).toBe('')
  })

  test('gets the name of the scheme alone without a realm', async () => {
    const { api } = await createApi()
    const { response } = await api.authorize(new Request(url))
    expect(response?.headers.get('www-authenticate')).toBe('Bearer')
  })

  test('cannot put the token into the query', async () => {
    const { api } = await createApi()
    const request = new Request(`${url}?access_token=${await sign(key)}`)
    expect((await api.authorize(request)).reason).toBe('credentials_missing')
  })
})

describe('a malformed Authorization header gets 400', () => {
  test.each([
    ['without a token', ['Bearer']],
    ['with two tokens', ['Bearer a b']],
    ['with a comma', ['Bearer a,b']],
    ['twice', ['Bearer a', 'Bearer a']],
    ['after one of another scheme', ['Basic d2ViOndlYg==', 'Bearer a']],
    ['with quotation marks', ['Bearer "a"']],
    ['that is too long', [`Bearer ${'a'.repeat(16_384)}`]],
  ])('%s', async (_, values) => {
    const { api } = await createApi()
    const { response, reason } = await api.authorize(authorizationOf(...values))
    expect([response?.status, reason]).toEqual([400, 'credentials_malformed'])
    expect(response?.headers.get('www-authenticate')).toMatch(/^Bearer error="invalid_request", error_description="/u)
  })
})

describe('scopes', () => {
  test.each([
    ['one', 'read'],
    ['several', ['write', 'read']],
    ['none', undefined],
  ])('that the token has are enough: %s', async (_, scopes) => {
    const { api } = await createApi()
    expect((await api.authorize(bearing(await sign(key)), { scopes })).reason).toBeUndefined()
  })

  test('that the token lacks get 403 with the required scopes', async () => {
    const { api } = await createApi()
    const { response, reason } = await api.authorize(bearing(await sign(key)), { scopes: ['read', 'delete'] })
    expect([response?.status, reason]).toEqual([403, 'scope_missing'])
    expect(response?.headers.get('www-authenticate')).toBe(
      'Bearer error="insufficient_scope", error_description="The access token lacks a required scope", scope="read delete"',
    )
    expect(await response?.json()).toMatchObject({ error: 'insufficient_scope' })
  })

  test.each([
    ['an array', { scope: ['read'] }, undefined],
    ['an array with something else', { scope: ['read', 7] }, 'scope_missing'],
    ['a longer name', { scope: 'reader' }, 'scope_missing'],
    ['another case', { scope: 'Read' }, 'scope_missing'],
    ['nothing', { scope: undefined }, 'scope_missing'],
  ])('can be %s', async (_, claims, reason) => {
    const { api } = await createApi()
    expect((await api.authorize(bearing(await sign(key, claims)), { scopes: 'read' })).reason).toBe(reason)
  })

  test('can be in another claim', async () => {
    const { api } = await createApi({ scopeClaim: 'scp' })
    const token = await sign(key, { scope: undefined, scp: ['read'] })
    expect((await api.authorize(bearing(token), { scopes: 'read' })).token?.scopes).toEqual(['read'])
  })

  test.each([['read write'], ['a"b'], ['']])('that are not one name each are an error: %j', async (scopes) => {
    const { api } = await createApi()
    await expect(api.authorize(new Request(url), { scopes })).rejects.toThrow(TypeError)
    expect(() => api.protect(() => new Response(), { scopes })).toThrow(TypeError)
  })
})

describe('protect()', () => {
  test('calls the handler with the token and the other arguments', async () => {
    const { api } = await createApi()
    const handler = api.protect(
      (request: Request, { claims }, environment: string) =>
        new Response(`${request.method} ${claims.sub} ${environment}`),
      { scopes: 'read' },
    )
    expect(await (await handler(bearing(await sign(key)), 'test')).text()).toBe('GET alice test')
  })

  test('does not call the handler for a refused request', async () => {
    const { api } = await createApi()
    let calls = 0
    const handler = api.protect(() => new Response(String(++calls)), { scopes: 'read' })
    const refused = await Promise.all([
      handler(new Request(url)),
      handler(bearing('x')),
      handler(bearing(await sign(key, { exp: start - 60 }))),
      handler(bearing(await sign(key, { scope: 'write' }))),
    ])
    expect(refused.map(({ status }) => status)).toEqual([401, 401, 401, 403])
    expect(calls).toBe(0)
  })
})

test('onRefusal receives the reason and the status; its errors change nothing', async () => {
  const refusals: object[] = []
  const { api } = await createApi({
    onRefusal: (refusal) => {
      refusals.push(refusal)
      throw new Error('the log is full')
    },
  })
  expect((await api.authorize(bearing(await sign(key, { exp: 1 })))).response?.status).toBe(401)
  expect(refusals).toEqual([{ reason: 'expired', status: 401 }])
})
