/**
 * Attack: a client with valid credentials of its own wants tokens of a user who has not authorized it. It forges an
 * assertion of a trusted issuer: unsigned, signed with the public key as a shared secret, or with a key of its own that
 * the header contains or points to. Or it presents a JWT that was made for something else: a token of this provider, an
 * identity token for another client, an assertion for another server, one that it has captured.
 *
 * RFC 7523 section 3 and 6; RFC 8725 sections 3.1, 3.2, 3.8 to 3.11. That the provider follows no link in a header is
 * RFC 8725 section 3.10.
 */

import { authorizationCode } from '@grantry/plugins/authorization-code'
import { jwtBearer } from '@grantry/plugins/jwt-bearer'
import { createTestProvider, sha256Of, storeGrant, testClient } from '@grantry/testing'
import { exportSPKI, importJWK, type JWK } from 'jose'
import { describe, expect, test, vi } from 'vitest'
import { createIssuerKey } from '../support/trusted-issuer.ts'

const grantType = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
const issuer = 'https://id.example.com'
const redirectUri = 'https://client.example.com/callback'
const idp = 'https://idp.example.com'
const key = await createIssuerKey('1')
const attacker = await createIssuerKey('1')
const [clientId, secret] = testClient

async function setUp() {
  const fetch = vi.fn(async () => Response.json({ keys: [attacker.jwk] }))
  const f = await createTestProvider({
    plugins: [
      authorizationCode(),
      jwtBearer({
        issuers: [
          { issuer: idp, jwks: { keys: [key.jwk] } },
          // The operator trusts tokens of this provider by mistake.
          { issuer, jwks: { keys: [key.jwk] } },
        ],
        subject: ({ sub }) => ({ sub, amr: ['assertion'] }),
        jwksUri: { fetch },
      }),
    ],
    clients: [
      {
        clientId,
        secrets: [{ sha256: sha256Of(secret) }],
        grantTypes: [grantType, 'authorization_code'],
        scopes: ['openid', 'api1'],
        redirectUris: [redirectUri],
      },
    ],
  })
  const claims = { iss: idp, sub: 'alice', aud: issuer, exp: f.clock.now() + 60 }
  return {
    ...f,
    fetch,
    claims,
    redeem: (assertion: string) => f.post('token', { grant_type: grantType, assertion, scope: 'api1' }, testClient),
  }
}

const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

async function hmac(input: string, secretText: string): Promise<string> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const raw = new TextEncoder().encode(secretText)
  const imported = await crypto.subtle.importKey('raw', raw, algorithm, false, ['sign'])
  return Buffer.from(await crypto.subtle.sign('HMAC', imported, new TextEncoder().encode(input))).toString('base64url')
}

async function signedWithPublicKey(claims: object, text: string): Promise<string> {
  const input = `${encoded({ alg: 'HS256', kid: '1' })}.${encoded(claims)}`
  return `${input}.${await hmac(input, text)}`
}

const pem = async (): Promise<string> => exportSPKI((await importJWK(key.jwk as JWK, 'ES256')) as CryptoKey)

describe('gets no token with a forged assertion', () => {
  type Claims = Awaited<ReturnType<typeof setUp>>['claims']
  test.each<[string, (claims: Claims) => Promise<string> | string]>([
    ['unsigned', (claims) => `${encoded({ alg: 'none' })}.${encoded(claims)}.`],
    ['unsigned, with a signature', (claims) => `${encoded({ alg: 'none', kid: '1' })}.${encoded(claims)}.AAAA`],
    ['signed with the public key as a shared secret', async (claims) => signedWithPublicKey(claims, await pem())],
    ['signed with the public JWK as a secret', (claims) => signedWithPublicKey(claims, JSON.stringify(key.jwk))],
    ['signed with an empty secret', (claims) => signedWithPublicKey(claims, '\0')],
    ['signed with another key of the same id', (claims) => attacker.sign(claims)],
    ['with its key in the header', (claims) => attacker.sign(claims, { jwk: attacker.jwk as JWK })],
    ['with a link to its keys', (claims) => attacker.sign(claims, { jku: 'https://evil.example.com/keys' })],
    ['with a link to its certificate', (claims) => attacker.sign(claims, { x5u: 'https://evil.example.com/cert' })],
    ['with a path as key id', (claims) => attacker.sign(claims, { kid: '../../dev/null' })],
    [
      'with other claims and the signature of a valid one',
      async (claims) => {
        const [header, , signature] = (await key.sign({ ...claims, sub: 'mallory' })).split('.')
        return `${header}.${encoded(claims)}.${signature}`
      },
    ],
    ['for another server', (claims) => key.sign({ ...claims, aud: 'https://other.example.com' })],
    ['for another client of the issuer', (claims) => key.sign({ ...claims, aud: clientId })],
    ['of the provider itself, which is configured by mistake', (claims) => key.sign({ ...claims, iss: issuer })],
  ])('%s', async (_, forge) => {
    const { redeem, claims, fetch, events } = await setUp()
    const assertion = await forge(claims)
    const { status, body } = await redeem(assertion)
    expect([status, body]).toEqual([400, { error: 'invalid_grant', error_description: 'The assertion is not valid' }])
    expect(fetch).not.toHaveBeenCalled()
    expect(JSON.stringify(events)).not.toContain(assertion)
  })

  test('while a valid one gets a token', async () => {
    const { redeem, claims } = await setUp()
    expect((await redeem(await key.sign(claims))).status).toBe(200)
  })
})

test.each(['access_token', 'id_token'])('the %s of a user of this provider is not an assertion', async (member) => {
  const { provider, post, redeem } = await setUp()
  const subject = { sub: 'mallory', amr: ['pwd'] }
  const code = await storeGrant(provider, { kind: 'code', clientId, redirectUri, subject, scopes: ['openid', 'api1'] })
  const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri }
  const { body } = await post('token', form, testClient)
  expect(body[member].split('.')).toHaveLength(3)
  expect((await redeem(body[member])).body.error).toBe('invalid_grant')
})

test('an assertion with a jti that was captured is useless after its use, and its user keeps the tokens', async () => {
  const { redeem, claims, post } = await setUp()
  const assertion = await key.sign({ ...claims, jti: 'captured' })
  const { body } = await redeem(assertion)
  expect((await redeem(assertion)).body.error).toBe('invalid_grant')
  const validation = await post('accessTokenValidation', { token: body.access_token })
  expect(validation.status).toBe(200)
})
