import { sha256Of } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { claims, client, key, outcomeOf, present, setUp, sign } from './assertions.ts'

const secret = 'a-secret-of-at-least-thirty-two-bytes'
const bytes = new TextEncoder().encode(secret)

const secretClient = client({ jwks: undefined, tokenEndpointAuthMethod: 'client_secret_jwt' })
const asked: string[] = []

function withSecret(storedSecret = secret, clients = [secretClient]) {
  asked.length = 0
  const secretOf = async (clientId: string) => {
    asked.push(clientId)
    return storedSecret
  }
  return setUp({ secretOf }, clients)
}

const hmac = (payload = claims(), by = bytes, alg = 'HS256') => sign(payload, by, { alg })

describe('client_secret_jwt', () => {
  test('authenticates a client by the secret that the host returns', async () => {
    const f = await withSecret()
    expect((await present(f, await hmac())).status).toBe(200)
    expect(f.events).toContainEqual(
      expect.objectContaining({ type: 'client_authentication_succeeded', method: 'client_secret_jwt' }),
    )
    expect(f.provider.metadata).toMatchObject({
      token_endpoint_auth_methods_supported: expect.arrayContaining(['private_key_jwt', 'client_secret_jwt']),
      token_endpoint_auth_signing_alg_values_supported: expect.arrayContaining(['ES256', 'HS256']),
    })
  })

  test('checks the claims, and accepts an assertion once', async () => {
    const f = await withSecret()
    const jwt = await hmac()
    expect(await outcomeOf(f, jwt)).toEqual([200, undefined])
    expect(await outcomeOf(f, jwt)).toEqual([401, 'replayed'])
    expect(await outcomeOf(f, await hmac({ ...claims(), aud: 'https://other.example.com' }))).toEqual([
      401,
      'aud_invalid',
    ])
  })

  test('rejects another secret', async () => {
    expect(await outcomeOf(await withSecret(`${secret}x`), await hmac())).toEqual([401, 'signature_mismatch'])
  })

  test.each([
    ['no secret', undefined, 'HS256'],
    ['a secret with fewer bytes than the hash', 'x'.repeat(31), 'HS256'],
    ['a secret with fewer bytes than a longer hash', secret, 'HS512'],
    ['an empty secret', '', 'HS256'],
  ])('rejects a client with %s', async (_, storedSecret, alg) => {
    const f = await setUp({ secretOf: () => storedSecret }, [secretClient])
    const signingKey = storedSecret ? new TextEncoder().encode(storedSecret) : bytes
    expect(await outcomeOf(f, await hmac(claims(), signingKey, alg))).toEqual([401, 'secret_unusable'])
  })

  test('is only for clients with this tokenEndpointAuthMethod', async () => {
    const f = await withSecret(secret, [client()])
    expect(await outcomeOf(f, await hmac())).toEqual([401, 'algorithm_not_allowed'])
    const narrow = await withSecret(secret, [{ ...secretClient, tokenEndpointAuthSigningAlg: 'HS384' }])
    expect(await outcomeOf(narrow, await hmac())).toEqual([401, 'algorithm_not_allowed'])
  })

  test('asks for the secret of an unknown client too, so that the time does not reveal it', async () => {
    const f = await withSecret()
    expect(await outcomeOf(f, await hmac(claims('absent')))).toEqual([401, 'client_unknown'])
    expect(asked).toEqual(['absent'])
  })

  test('is not available without secretOf', async () => {
    const f = await setUp({}, [client({ secrets: [{ sha256: sha256Of(secret) }] })])
    expect(await outcomeOf(f, await hmac())).toEqual([401, 'algorithm_not_allowed'])
    expect(f.provider.metadata.token_endpoint_auth_methods_supported).not.toContain('client_secret_jwt')
    await expect(setUp({}, [secretClient])).rejects.toThrow('client_secret_jwt, which no plugin provides')
  })

  test('does not accept a signature with a key', async () => {
    expect(await outcomeOf(await withSecret(), await sign(claims(), key.privateKey))).toEqual([401, 'keys_unavailable'])
  })
})
