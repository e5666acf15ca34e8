import { describe, expect, test } from 'vitest'
import { api1, type Fixture, proof, redirectUri } from '../support/fixture.ts'
import { certificate } from './certificates.ts'
import { clientWith, login, presented, request, secretClient, secretOf, selfSigned, start, use } from './parties.ts'

const clientCertificate = certificate()
const bound = { tlsClientCertificateBoundAccessTokens: true }
const selfSignedClient = clientWith({ ...selfSigned(clientCertificate.jwk), ...bound })
const publicClient = clientWith({
  public: true,
  grantTypes: ['refresh_token', 'authorization_code'],
  redirectUris: [redirectUri],
})
const machine = secretOf('machine')

/** The form that redeems a code of the public client. */
async function codeForm(f: Fixture) {
  const code = await f.code({ clientId: 'machine', codeChallenge: proof.challenge })
  return { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: proof.verifier }
}

describe('a token of a client with tlsClientCertificateBoundAccessTokens', () => {
  test.each(['jwt', 'reference'] as const)(
    '16.5 has the hash of the certificate, as a token of the format %s',
    async (format) => {
      const f = await start([clientWith({ ...selfSignedClient, accessTokenFormat: format })])
      const { body } = await request(f, presented(clientCertificate))
      expect(body.token_type).toBe('Bearer')
      const { claims } = await f.provider.inspect(body.access_token)
      expect(claims).toMatchObject({ cnf: { 'x5t#S256': clientCertificate.thumbprint } })
      expect((await f.post('introspection', { token: body.access_token }, api1)).body).toMatchObject({
        active: true,
        token_type: 'Bearer',
        cnf: { 'x5t#S256': clientCertificate.thumbprint },
      })
    },
  )

  test('16.5 is accepted with the certificate only', async () => {
    const f = await start([selfSignedClient])
    const { body } = await request(f, presented(clientCertificate), login)
    expect((await use(f, body.access_token, presented(clientCertificate))).status).toBe(200)
    const refused = { status: 401, body: { error: 'invalid_token' } }
    expect(await use(f, body.access_token, undefined)).toMatchObject({
      ...refused,
      reason: 'plugin:mtls:certificate_missing',
    })
    const sameKey = certificate({ sameKeyAs: clientCertificate })
    expect(await use(f, body.access_token, presented(sameKey))).toMatchObject({ ...refused, reason: 'wrong_key' })
  })

  test('16.5 requires a certificate at the token endpoint, whatever authenticates the client', async () => {
    const f = await start([secretClient(bound)])
    expect(await request(f, undefined, undefined, machine)).toMatchObject({
      status: 400,
      body: { error: 'invalid_request', error_description: 'A valid client certificate is required' },
      reason: 'plugin:mtls:certificate_missing',
    })
    const { body } = await request(f, presented(clientCertificate), undefined, machine)
    expect((await f.provider.inspect(body.access_token)).claims).toMatchObject({
      cnf: { 'x5t#S256': clientCertificate.thumbprint },
    })
    expect(f.events).toContainEqual(
      expect.objectContaining({ type: 'client_authentication_succeeded', method: 'client_secret_basic' }),
    )
  })

  test.each([
    ['not yet valid', { notBefore: 1_800_000_001 }, 'certificate_not_yet_valid'],
    ['expired', { notAfter: 1_799_999_999 }, 'certificate_expired'],
  ])('is not issued for a certificate that is %s', async (_, period, reason) => {
    const f = await start([secretClient(bound)])
    expect(await request(f, presented(certificate(period)), undefined, machine)).toMatchObject({
      status: 400,
      reason: `plugin:mtls:${reason}`,
    })
  })

  test('is accepted until the certificate expires', async () => {
    const short = certificate({ notAfter: 1_800_000_060 })
    const f = await start([secretClient(bound)])
    const { body } = await request(f, presented(short), login, machine)
    f.clock.advance(60)
    expect((await use(f, body.access_token, presented(short))).status).toBe(200)
    f.clock.advance(1)
    expect(await use(f, body.access_token, presented(short))).toMatchObject({
      status: 401,
      reason: 'plugin:mtls:certificate_expired',
    })
  })
})

describe('a refresh token', () => {
  test('16.6 of a public client requires the same certificate', async () => {
    const f = await start([{ ...publicClient, ...bound }])
    const { body } = await request(f, presented(clientCertificate), await codeForm(f))
    const refresh = { grant_type: 'refresh_token', refresh_token: body.refresh_token }
    expect(await request(f, presented(certificate()), refresh)).toMatchObject({
      status: 400,
      body: { error: 'invalid_grant' },
    })
    expect((await request(f, undefined, refresh)).status).toBe(400)
    expect((await request(f, presented(clientCertificate), refresh)).status).toBe(200)
  })

  test('16.6 of a confidential client can be used with a new certificate', async () => {
    const next = certificate()
    const f = await start([clientWith({ ...selfSigned(clientCertificate.jwk, next.jwk), ...bound })])
    const { body } = await request(f, presented(clientCertificate), login)
    const refresh = { grant_type: 'refresh_token', refresh_token: body.refresh_token }
    const refreshed = await request(f, presented(next), refresh)
    expect((await f.provider.inspect(refreshed.body.access_token)).claims).toMatchObject({
      cnf: { 'x5t#S256': next.thumbprint },
    })
  })
})

describe('a client without tlsClientCertificateBoundAccessTokens', () => {
  test('gets tokens without a certificate hash, even on a connection with a certificate', async () => {
    const f = await start([secretClient()])
    const { body } = await request(f, presented(clientCertificate), login, machine)
    expect((await f.provider.inspect(body.access_token)).claims).not.toHaveProperty('cnf')
    expect((await use(f, body.access_token, undefined)).status).toBe(200)
  })
})

test('a public client on a connection with a certificate authenticates with its client_id', async () => {
  const f = await start([publicClient])
  expect((await request(f, presented(clientCertificate), await codeForm(f))).status).toBe(200)
})

test('16.1 the discovery document announces the methods and the binding', async () => {
  const { provider } = await start([selfSignedClient])
  expect(provider.metadata).toMatchObject({
    tls_client_certificate_bound_access_tokens: true,
    token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'self_signed_tls_client_auth'],
  })
})
