/**
 * Attacks on workload identity: a token signed with the key of another issuer, or named by its key id; a token of one issuer
 * for a client of another one; another kind of JWT that an issuer or this provider signs; an HMAC with a public key.
 */
import { exportSPKI, importJWK, SignJWT } from 'jose'
import { expect, test } from 'vitest'
import {
  createKey,
  githubClaims,
  gitlab,
  keys,
  outcomeOf,
  present,
  setUp,
  tokens,
  trustDomain,
} from '../workload-identity/parties.ts'

test.each(Object.keys(tokens) as (keyof typeof tokens)[])(
  'a token of %s with the key of another issuer is refused',
  async (platform) => {
    const f = await setUp()
    for (const [signer, key] of Object.entries(keys)) {
      if (signer === platform) continue
      const alg = signer === 'spiffe' ? 'ES256' : 'RS256'
      for (const kid of [key.jwk.kid, keys[platform].jwk.kid, undefined]) {
        const jwt = await tokens[platform]({}, key, { alg, kid: kid as string })
        expect((await outcomeOf(f, jwt, platform))[0]).toBe(401)
      }
    }
  },
)

test('a token of an issuer is refused for a client of another one', async () => {
  const f = await setUp()
  const claims = { ...githubClaims(), iss: gitlab, sub: 'repo:acme@1001/deploy@2002:ref:refs/heads/main' }
  expect(await outcomeOf(f, await tokens.gitlab(claims), 'github')).toEqual([401, 'issuer_not_allowed'])
  expect(await outcomeOf(f, await tokens.cluster({ sub: `${trustDomain}/ns/payments/sa/worker` }), 'spiffe')).toEqual([
    401,
    'key_unknown',
  ])
  expect(await outcomeOf(f, await tokens.cluster({ iss: trustDomain }), 'spiffe')).toEqual([401, 'key_unknown'])
})

test.each([
  'at+jwt',
  'application/at+jwt',
  'dpop+jwt',
  'oauth-id-jag+jwt',
  'logout+jwt',
  'client-authentication+jwt',
  'secevent+jwt',
  'JOSE',
  'wit+jwt',
])('a JWT with the type %s is refused', async (typ) => {
  expect(await outcomeOf(await setUp(), await tokens.github({}, keys.github, { typ }), 'github')).toEqual([
    401,
    'typ_unsupported',
  ])
})

test('an HMAC with the public key is refused, and no signature', async () => {
  const f = await setUp()
  const pem = await exportSPKI((await importJWK(keys.github.jwk, 'RS256', { extractable: true })) as CryptoKey)
  for (const secret of [pem, JSON.stringify(keys.github.jwk)]) {
    const jwt = await new SignJWT({ ...githubClaims() })
      .setProtectedHeader({ alg: 'HS256', kid: 'github-1' })
      .sign(new TextEncoder().encode(secret))
    expect(await outcomeOf(f, jwt, 'github')).toEqual([401, 'algorithm_not_allowed'])
  }
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const unsigned = `${encode({ alg: 'none' })}.${encode(githubClaims())}.AAAA`
  expect(await outcomeOf(f, unsigned, 'github')).toEqual([401, 'algorithm_not_allowed'])
})

test('a key in the header is not used', async () => {
  const evil = await createKey('RS256', { kid: 'github-1' })
  const header = { jwk: evil.jwk, jku: 'https://evil.example.com/jwks' }
  expect(await outcomeOf(await setUp(), await tokens.github({}, evil, header), 'github')).toEqual([
    401,
    'signature_mismatch',
  ])
})

test('an access token of this provider is refused, and a token that needs a key', async () => {
  const f = await setUp()
  const { body } = await present(f, await tokens.cluster(), 'cluster')
  expect((await outcomeOf(f, body.access_token, 'cluster'))[0]).toBe(401)
  expect(await outcomeOf(f, await tokens.cluster({ cnf: { jkt: 'x' } }), 'cluster')).toEqual([401, 'key_not_proved'])
})
