/**
 * Attack: a client registers, or describes itself, with a demand about its own authentication, and the provider keeps the client
 * without it. A thief then authenticates with less than the client demanded: an assertion with a weaker algorithm of the same
 * key (RFC 7591; OpenID Connect Dynamic Client Registration 1.0 section 2), or a certificate with another name (RFC 8705
 * section 2.1.2). The same with a name of the thing that a software statement has decided about.
 */
import { metadataName, metadataNames } from '@grantry/core'
import { clientAssertion } from '@grantry/plugins/client-assertion'
import { clientCredentials } from '@grantry/plugins/client-credentials'
import { mtls } from '@grantry/plugins/mtls'
import { registration } from '@grantry/plugins/registration'
import { read } from '@grantry/testing'
import { exportJWK, importJWK, SignJWT } from 'jose'
import { describe, expect, test } from 'vitest'
import { vouched } from '../../plugins/registration/software-statement.ts'
import { assertionType, createKey } from '../client-assertion/assertions.ts'
import * as documents from '../client-metadata/parties.ts'
import { alternativeNames, certificate, commonName } from '../mtls/certificates.ts'
import { issuer, metadata, setUp } from '../registration/parties.ts'

const rsa = await createKey('PS256')
const weaker = (await importJWK(await exportJWK(rsa.privateKey), 'RS256')) as CryptoKey
const jwks = { keys: [rsa.jwk] }
const signing = { token_endpoint_auth_method: 'private_key_jwt', jwks, token_endpoint_auth_signing_alg: 'PS256' }

const assertion = (alg: 'PS256' | 'RS256', clientId: string, now: number) =>
  new SignJWT({ jti: `${alg}-${clientId}`, sub: clientId, iss: clientId, aud: issuer, iat: now, exp: now + 60 })
    .setProtectedHeader({ alg })
    .sign(alg === 'PS256' ? rsa.privateKey : weaker)

const machine = {
  grantTypes: ['client_credentials'],
  authenticationMethods: ['private_key_jwt' as const, 'tls_client_auth' as const],
}
const ofMachine = { ...metadata, grant_types: ['client_credentials'], redirect_uris: [] }
const registering = () => {
  const ours = registration({ scopes: ['api1'], open: true, ...machine })
  return setUp({}, { plugins: [clientCredentials(), clientAssertion(), mtls(), ours] })
}

describe('an assertion with a weaker algorithm of the key', () => {
  test('does not authenticate a client that has registered the stronger one', async () => {
    const f = await registering()
    const { status, body } = await f.register({ ...ofMachine, ...signing })
    expect([status, body.token_endpoint_auth_signing_alg]).toEqual([201, 'PS256'])
    const tokens = async (alg: 'PS256' | 'RS256') => {
      const client_assertion = await assertion(alg, body.client_id, f.clock.now())
      const form = {
        grant_type: 'client_credentials',
        scope: 'api1',
        client_assertion_type: assertionType,
        client_assertion,
      }
      return (await f.post('token', form)).status
    }
    expect([await tokens('RS256'), await tokens('PS256')]).toEqual([401, 200])
  })

  test('does not authenticate a client whose document demands the stronger one', async () => {
    const hosts = documents.createHosts({ [documents.clientId]: { body: { ...documents.document, ...signing } } })
    const f = await documents.setUp(hosts)
    const { code } = await f.authorize()
    const redeemed = async (alg: 'PS256' | 'RS256') => {
      const client_assertion = await assertion(alg, documents.clientId, f.clock.now())
      return (await f.redeem(code, { client_assertion_type: assertionType, client_assertion })).status
    }
    expect([await redeemed('RS256'), await redeemed('PS256')]).toEqual([401, 200])
  })
})

describe('a certificate', () => {
  const names = { token_endpoint_auth_method: 'tls_client_auth', tls_client_auth_san_dns: 'app.example.com' }
  const registeredCertificate = certificate({ extensions: [alternativeNames([2, 'app.example.com'])] })

  test.each([
    ['with the registered name', registeredCertificate, true, 200],
    ['with it, whose chain is not verified,', registeredCertificate, false, 401],
    ['with another name', certificate({ subject: commonName('app.example.com') }), true, 401],
  ] as const)(
    '%s authenticates the client only if it is the registered one',
    async (_, { der }, verified, expected) => {
      const f = await registering()
      const { status, body } = await f.register({ ...ofMachine, ...names })
      expect([status, body.tls_client_auth_san_dns]).toEqual([201, 'app.example.com'])
      const form = new URLSearchParams({ grant_type: 'client_credentials', scope: 'api1', client_id: body.client_id })
      const request = new Request(`${issuer}/connect/token`, { method: 'POST', body: form })
      const response = await read(await f.provider.fetch(request, { clientCertificate: { der, verified } }))
      expect(response.status).toBe(expected)
    },
  )
})

describe('what a statement has decided', () => {
  const pairs = Object.entries(metadataNames).flatMap(([name, { sameAs }]) =>
    sameAs === undefined ? [] : [[name, sameAs] as const, [sameAs, name] as const],
  )
  test('has names for keys, methods, algorithms, subjects and certificates', () => {
    expect(metadataName('tls_client_auth_san_ip')?.sameAs).toBe('tls_client_auth_subject_dn')
    expect(pairs.length).toBeGreaterThan(20)
  })
  test.each(pairs)('as %s is not changed by %s', (decided, synonym) => {
    const merged = vouched({ [synonym]: 'of the caller', client_name: 'App' }, { [decided]: 'of the statement' }, 'jwt')
    expect(merged).toEqual({ client_name: 'App', [decided]: 'of the statement', software_statement: 'jwt' })
  })
  test('as one certificate is not changed by the name of another one', () => {
    const merged = vouched(
      { tls_client_auth_san_ip: '192.0.2.1' },
      { tls_client_auth_san_dns: 'app.example.com' },
      'jwt',
    )
    expect(merged).not.toHaveProperty('tls_client_auth_san_ip')
  })
})
