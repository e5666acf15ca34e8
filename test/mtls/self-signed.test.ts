import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { certificate } from './certificates.ts'
import { clientWith, presented, request, selfSigned, start } from './parties.ts'

describe('self_signed_tls_client_auth', () => {
  test('16.4 authenticates a client by the public key in its jwks', async () => {
    const issued = certificate()
    const f = await start([clientWith(selfSigned(issued.jwk))])
    expect(await request(f, presented(issued, false))).toMatchObject({ status: 200, body: { token_type: 'Bearer' } })
    expect(f.events).toContainEqual(
      expect.objectContaining({ type: 'client_authentication_succeeded', method: 'self_signed_tls_client_auth' }),
    )
  })

  test.each([
    ['RSA', generateKeyPairSync('rsa', { modulusLength: 2048 })],
    ['EC P-384', generateKeyPairSync('ec', { namedCurve: 'P-384' })],
    ['EC P-521', generateKeyPairSync('ec', { namedCurve: 'P-521' })],
    ['Ed25519', generateKeyPairSync('ed25519')],
  ])('compares keys of the kind %s', async (_, keys) => {
    const issued = certificate({ keys, by: certificate() })
    const f = await start([clientWith(selfSigned(issued.jwk))])
    expect((await request(f, presented(issued, false))).status).toBe(200)
  })

  test('accepts any of several keys', async () => {
    const [old, current] = [certificate(), certificate()]
    const f = await start([clientWith(selfSigned(old.jwk, current.jwk))])
    expect((await request(f, presented(old))).status).toBe(200)
    expect((await request(f, presented(current))).status).toBe(200)
  })

  test('16.4 requires the certificate of x5c, not only its key', async () => {
    const issued = certificate()
    const sameKey = certificate({ sameKeyAs: issued })
    const f = await start([clientWith(selfSigned({ ...issued.jwk, x5c: [issued.der] }))])
    expect((await request(f, presented(issued))).status).toBe(200)
    expect(await request(f, presented(sameKey))).toMatchObject({ status: 401, body: { error: 'invalid_client' } })
  })

  test('refuses another key with the same response as an unknown client', async () => {
    const f = await start([clientWith(selfSigned(certificate().jwk))])
    const refused = await request(f, presented(certificate()))
    expect(refused).toMatchObject({ status: 401, reason: 'plugin:mtls:key_unknown' })
    const unknown = await request(f, presented(certificate()), {
      grant_type: 'client_credentials',
      client_id: 'unknown',
    })
    expect(unknown).toMatchObject({ status: 401, body: refused.body, reason: 'client_unknown' })
  })

  test('authenticates a client by the keys at its jwksUri, and fetches them again for a new one', async () => {
    const [old, next] = [certificate(), certificate()]
    let keys = [old.jwk]
    const requested: string[] = []
    const fetch = async (url: string) => {
      requested.push(url)
      return Response.json({ keys })
    }
    const jwksUri = 'https://client.example.com/jwks'
    const { tokenEndpointAuthMethod } = selfSigned()
    const f = await start([clientWith({ tokenEndpointAuthMethod, jwksUri })], { jwksUri: { fetch } })
    expect((await request(f, presented(old))).status).toBe(200)
    expect((await request(f, presented(old))).status).toBe(200)
    expect(requested).toEqual([jwksUri])
    keys = [next.jwk]
    expect(await request(f, presented(next))).toMatchObject({ status: 401, reason: 'plugin:mtls:key_unknown' })
    f.clock.advance(30)
    expect((await request(f, presented(next))).status).toBe(200)
    expect(requested).toHaveLength(2)
  })

  test('refuses a client whose keys cannot be fetched', async () => {
    const fetch = async () => new Response(null, { status: 500 })
    const { tokenEndpointAuthMethod } = selfSigned()
    const client = clientWith({ tokenEndpointAuthMethod, jwksUri: 'https://client.example.com/jwks' })
    const f = await start([client], { jwksUri: { fetch } })
    expect(await request(f, presented(certificate()))).toMatchObject({
      status: 401,
      reason: 'plugin:mtls:keys_unavailable',
    })
  })

  test('is not used for a client whose keys are for assertions', async () => {
    const issued = certificate()
    const { jwks } = selfSigned(issued.jwk)
    await expect(start([clientWith({ jwks })])).rejects.toThrow('machine has no usable secret')
  })
})
