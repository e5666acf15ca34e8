import { describe, expect, test } from 'vitest'
import { createResourceServer } from '../../packages/resource-server/src/index.ts'
import { createBound } from './bound.ts'
import { audience, createApi, createIssuer, issuer, jwksUri, keyNamed, sign, start } from './issuer.ts'

// verify() is for libraries that read the Authorization header themselves, such as the MCP SDKs.

const key = await keyNamed('one')

describe('a valid token', () => {
  test('is returned as the MCP SDKs represent it', async () => {
    const { options } = await createIssuer()
    const resource = `${audience}/mcp`
    const api = createResourceServer({ ...options, audience: resource, resource })
    const act = { sub: 'agent', act: { sub: 'gateway' } }
    const token = await sign(key, { aud: resource, act })
    expect(await api.verify(token)).toEqual({
      token,
      clientId: 'web',
      scopes: ['read', 'write'],
      expiresAt: start + 300,
      resource: new URL(resource),
      resourceMetadataUrl: `${audience}/.well-known/oauth-protected-resource/mcp`,
      extra: expect.objectContaining({ iss: issuer, sub: 'alice', act, aud: resource }),
    })
  })

  test.each([
    ['azp', { client_id: undefined, azp: 'native' }, 'native'],
    ['nothing', { client_id: undefined }, ''],
    ['no text', { client_id: undefined, azp: 7 }, ''],
  ])('can name its client by %s', async (_, claims, clientId) => {
    const { api } = await createApi()
    expect(await api.verify(await sign(key, claims))).toMatchObject({ clientId })
  })

  test('of an API without an identifier has no resource', async () => {
    const { api } = await createApi()
    expect(Object.keys(await api.verify(await sign(key)))).toEqual([
      'token',
      'clientId',
      'scopes',
      'expiresAt',
      'extra',
    ])
  })
})

describe('a token that is not valid is an error with the status 401', () => {
  test.each([
    ['expired', { exp: start - 60 }, 'expired'],
    ['for another API', { aud: 'https://other.example' }, 'audience_mismatch'],
    ['of another issuer', { iss: 'https://other.example' }, 'issuer_mismatch'],
    ['bound to a certificate', { cnf: { 'x5t#S256': 'x' } }, 'binding_not_supported'],
    ['bound in an unknown way', { cnf: 'x' }, 'binding_not_supported'],
    ['bound to a key', { cnf: { jkt: 'x' } }, 'binding_not_supported'],
  ])('%s', async (_, claims, reason) => {
    const refusals: object[] = []
    const { api } = await createApi({
      clientCertificate: () => 'never asked',
      onRefusal: (refusal) => void refusals.push(refusal),
    })
    await expect(api.verify(await sign(key, claims))).rejects.toMatchObject({
      status: 401,
      code: 'invalid_token',
      reason,
      message: expect.stringMatching(/^The /u),
    })
    expect(refusals).toEqual([{ reason, status: 401 }])
  })

  test('bound to a key whose proof cannot be seen', async () => {
    const { api, token } = await createBound()
    await expect(api.verify(token)).rejects.toMatchObject({ status: 401, reason: 'binding_not_supported' })
  })

  test('not bound, where that is required', async () => {
    const { api } = await createBound({ requiredBinding: 'dpop' })
    await expect(api.verify(await sign(key))).rejects.toMatchObject({ status: 401, reason: 'binding_missing' })
  })

  test.each([
    ['', 'an empty text'],
    ['a b', 'two words'],
    ['a\r\nb', 'a line break'],
    ['ü', 'a character outside ASCII'],
    ['a'.repeat(16_385), 'too long'],
    [undefined, 'nothing'],
    [7, 'a number'],
  ])('malformed: %s', async (...[token]: readonly unknown[]) => {
    const { api } = await createApi()
    await expect(api.verify(token as string)).rejects.toMatchObject({ status: 401, reason: 'token_malformed' })
  })
})

test('an outage of the issuer is an error with the status 503, which does not contain the token', async () => {
  const { test: t, api } = await createApi()
  t.responses.set(jwksUri, () => new Response(null, { status: 502 }))
  const token = await sign(key)
  const error: unknown = await api.verify(token).catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ status: 503, code: 'temporarily_unavailable', reason: 'keys_unavailable' })
  expect(JSON.stringify(error) + String(error)).not.toContain(token)
  expect((error as Error).cause).toBeInstanceOf(Error)
})
