import { definePlugin, defineResponseFormat, type ResponseFormat } from '@grantry/core'
import { clientCredentials } from '@grantry/plugins/client-credentials'
import { jwtIntrospection } from '@grantry/plugins/jwt-introspection'
import { basic, createTestProvider, testClient } from '@grantry/testing'
import { createLocalJWKSet, jwtVerify } from 'jose'
import { describe, expect, test } from 'vitest'

const mediaType = 'application/token-introspection+jwt'

async function setUp(plugin = jwtIntrospection()) {
  const f = await createTestProvider({ plugins: [clientCredentials(), plugin] })
  const { body } = await f.post('token', { grant_type: 'client_credentials', scope: 'api1' }, testClient)
  const introspect = (accept: string | undefined, token: string = body.access_token, secret = 'api1-secret') =>
    f.provider.handlers.introspection(
      new Request('https://id.example.com/connect/introspect', {
        method: 'POST',
        headers: { authorization: basic(['api1', secret]), ...(accept !== undefined && { accept }) },
        body: new URLSearchParams({ token }),
      }),
    )
  const jwks = createLocalJWKSet(await (await f.provider.handlers.jwks(new Request('https://id.example.com/k'))).json())
  return { ...f, introspect, jwks, token: body.access_token as string }
}

describe('an introspection response as a JWT (RFC 9701)', () => {
  test('has the header and the claims of section 5', async () => {
    const { introspect, jwks, provider, clock } = await setUp()
    const response = await introspect(mediaType)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe(mediaType)
    expect(response.headers.get('cache-control')).toBe('no-store')
    const { payload, protectedHeader } = await jwtVerify(await response.text(), jwks, {
      typ: 'token-introspection+jwt',
    })
    expect(protectedHeader).toMatchObject({ typ: 'token-introspection+jwt', alg: 'ES256', kid: expect.any(String) })
    expect(payload).toEqual({
      iss: provider.issuer,
      aud: 'api1',
      iat: clock.now(),
      token_introspection: await (await introspect(undefined)).json(),
    })
    expect(payload.token_introspection).toMatchObject({ active: true, scope: 'api1', client_id: testClient[0] })
  })

  test('says of an unknown token only that it is not active', async () => {
    const { introspect, jwks } = await setUp()
    const { payload } = await jwtVerify(await (await introspect(mediaType, 'absent')).text(), jwks)
    expect(payload.token_introspection).toEqual({ active: false })
  })

  test.each([
    [undefined, false],
    ['*/*', false],
    ['application/*', false],
    ['application/json', false],
    [`application/json, ${mediaType}`, true],
    [`${mediaType};q=0.5, application/json;q=0.9`, false],
    [`${mediaType};q=0.9, application/json;q=0.5`, true],
    [`${mediaType};q=0`, false],
    [mediaType.toUpperCase(), true],
    [`text/html, ${mediaType} ; charset=utf-8`, true],
    [`${mediaType}x`, false],
    [`${mediaType}, ${'a/b, '.repeat(400)}`, false],
  ])('Accept: %s', async (accept, isJwt) => {
    const { introspect } = await setUp()
    const { headers } = await introspect(accept)
    expect(headers.get('content-type')).toBe(isJwt ? mediaType : 'application/json')
  })

  test('does not change errors', async () => {
    const { introspect } = await setUp()
    const response = await introspect(mediaType, 'absent', 'wrong')
    expect([response.status, response.headers.get('content-type')]).toEqual([401, 'application/json'])
    expect(await response.json()).toMatchObject({ error: 'invalid_client' })
  })

  test('is announced in the discovery document (section 7)', async () => {
    const { provider } = await setUp()
    expect(provider.metadata.introspection_signing_alg_values_supported).toEqual(['ES256'])
    const without = await createTestProvider({ plugins: [jwtIntrospection()], endpoints: { introspection: false } })
    expect(without.provider.metadata).not.toHaveProperty('introspection_signing_alg_values_supported')
  })

  test('is not accepted as an access token, or as anything else', async () => {
    const { introspect, get } = await setUp()
    const jwt = await (await introspect(mediaType)).text()
    expect(await (await introspect(undefined, jwt)).json()).toEqual({ active: false })
    expect((await get('userinfo', {}, { authorization: `Bearer ${jwt}` })).status).toBe(401)
    expect((await get('accessTokenValidation', { token: jwt })).status).toBe(400)
    expect((await get('identityTokenValidation', { token: jwt, client_id: 'api1' })).status).toBe(400)
  })
})

describe('a response format', () => {
  const format = (more: Partial<ResponseFormat>) =>
    definePlugin('other', [
      defineResponseFormat({ endpoint: 'introspection', mediaType: 'application/x', encode: () => '', ...more }),
    ])

  test.each<[string, Partial<ResponseFormat>, RegExp]>([
    ['an unknown endpoint', { endpoint: 'absent' }, /unknown endpoint absent/u],
    ['JSON', { mediaType: 'application/json' }, /: mediaType must be a media type in lower case/u],
    ['a page', { mediaType: 'text/html' }, /: mediaType must be a media type in lower case/u],
    [
      'a header in its type',
      { mediaType: 'application/x\r\nset-cookie: a=b' },
      /: mediaType must be a media type in lower case/u,
    ],
    ['capital letters', { mediaType: 'application/X' }, /: mediaType must be a media type in lower case/u],
    [
      'another member of discovery',
      { signingAlgorithms: 'issuer' as never },
      /: signingAlgorithms must be a name that ends with/u,
    ],
    ['no encode()', { encode: undefined as never }, /: encode must be a function/u],
  ])('cannot have %s', async (_, more, message) => {
    await expect(createTestProvider({ plugins: [format(more)] })).rejects.toThrow(message)
  })

  test('belongs to one plugin', async () => {
    const twice = [jwtIntrospection(), format({ mediaType })]
    await expect(createTestProvider({ plugins: twice })).rejects.toThrow(
      /jwt-introspection and other both provide the response format .* of introspection/u,
    )
  })

  test.each<[string, ResponseFormat['encode']]>([
    ['throws', () => Promise.reject(new Error('The signer is away'))],
    ['returns no text', () => undefined as never],
  ])('that %s is a defect, which only the operator sees', async (_, encode) => {
    const { introspect, events } = await setUp(format({ encode }))
    const response = await introspect('application/x')
    expect([response.status, await response.json()]).toEqual([500, { error: 'server_error' }])
    expect(events.some(({ type }) => type === 'unhandled_failure')).toBe(true)
  })
})
