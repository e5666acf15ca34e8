import { createHash } from 'node:crypto'
import { algorithms, signingKeys } from '@grantry/core'
import { storeGrant } from '@grantry/testing'
import { createRemoteJWKSet, jwtVerify } from 'jose'
import { describe, expect, test } from 'vitest'
import { redirectUri, web, webJwt } from '../support/fixture.ts'
import { startProvider } from './running-server.ts'

/** OpenID Connect Core section 3.1.3.6, with the hash of the signature's algorithm. */
function atHash(accessToken: string, hash: string): string {
  const digest = createHash(hash).update(accessToken).digest()
  return digest.subarray(0, digest.length / 2).toString('base64url')
}

const jsonOf = async (response: Response): Promise<Record<string, string>> => {
  expect(response.status).toBe(200)
  return (await response.json()) as Record<string, string>
}

// With every algorithm that a provider can sign with: the JWKS must contain what another implementation needs to
// verify.
describe('jose with the published keys', () => {
  test.each(algorithms)('verifies access and identity tokens that are signed with %s', async (algorithm) => {
    const { issuer, provider, close } = await startProvider('', { keys: signingKeys({ algorithm }) })
    try {
      const metadata = await jsonOf(await fetch(`${issuer}/.well-known/openid-configuration`))
      const subject = { sub: '1', amr: ['pwd'] }
      const scopes = ['openid', 'api1']
      const code = await storeGrant(provider, { kind: 'code', clientId: webJwt[0], redirectUri, scopes, subject })
      const tokens = await jsonOf(
        await fetch(metadata.token_endpoint ?? '', {
          method: 'POST',
          body: new URLSearchParams({
            grant_type: 'authorization_code',
            code,
            redirect_uri: redirectUri,
            client_id: webJwt[0],
            client_secret: webJwt[1],
          }),
        }),
      )
      const { access_token = '', id_token = '' } = tokens
      const keys = createRemoteJWKSet(new URL(metadata.jwks_uri ?? ''))
      const pinned = { issuer, algorithms: [algorithm], requiredClaims: ['exp', 'iat', 'sub'] }

      const forApi = { ...pinned, audience: 'https://api1.example.com', typ: 'at+jwt' }
      const access = await jwtVerify(access_token, keys, forApi)
      expect(access.payload).toMatchObject({ sub: '1', client_id: webJwt[0], scope: 'openid api1' })

      const forClient = { ...pinned, audience: webJwt[0], typ: 'JWT' }
      const identity = await jwtVerify(id_token, keys, forClient)
      expect(identity.payload.at_hash).toBe(atHash(access_token, algorithm === 'EdDSA' ? 'sha512' : 'sha256'))

      // Neither is accepted as the other, nor for another audience.
      await expect(jwtVerify(id_token, keys, forApi)).rejects.toMatchObject({ code: 'ERR_JWT_CLAIM_VALIDATION_FAILED' })
      await expect(jwtVerify(access_token, keys, { ...forClient, typ: 'at+jwt' })).rejects.toMatchObject({
        claim: 'aud',
      })
      await expect(jwtVerify(id_token, keys, { ...forClient, audience: web[0] })).rejects.toMatchObject({
        claim: 'aud',
      })
    } finally {
      await close()
    }
  })
})
