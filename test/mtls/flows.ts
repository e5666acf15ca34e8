import * as oauth from 'oauth4webapi'
import * as client from 'openid-client'
import { describe, expect, test } from 'vitest'
import type { Issued } from './certificates.ts'
import { fetchWith } from './https.ts'
import { forged, otherCertificate, ownCertificate, secrets, user } from './setting.ts'

const scope = { scope: 'api1' }
const login = { ...user, scope: 'openid profile api1' }

/** How a library sends the requests of a client with a certificate. Failures are `{ status }`. */
interface Party {
  clientCredentials(): Promise<string>
  /** Signs alice in with her password. */
  logIn(): Promise<string>
  userinfo(token: string): Promise<object>
  /** Returns the claims of a token, as its API sees them. */
  introspect(token: string): Promise<object>
}

type CreateParty = (issuer: string, clientId: string, certificate: Issued | undefined) => Promise<Party>

const passwordGrant = 'password'

const openidClient: CreateParty = async (issuer, clientId, certificate) => {
  const discover = (id: string, authentication: client.ClientAuth) =>
    client.discovery(new URL(issuer), id, { use_mtls_endpoint_aliases: true }, authentication, {
      [client.customFetch]: fetchWith(certificate) as client.CustomFetch,
    })
  const hasSecret = clientId === 'web'
  const config = await discover(clientId, hasSecret ? client.ClientSecretBasic(secrets.web) : client.TlsClientAuth())
  return {
    clientCredentials: async () => (await client.clientCredentialsGrant(config, scope)).access_token,
    logIn: async () => (await client.genericGrantRequest(config, passwordGrant, login)).access_token,
    userinfo: (token) => client.fetchUserInfo(config, token, '1'),
    introspect: async (token) =>
      client.tokenIntrospection(await discover('api1', client.ClientSecretBasic(secrets.api1)), token),
  }
}

const oauth4webapi: CreateParty = async (issuer, clientId, certificate) => {
  const url = new URL(issuer)
  const send = fetchWith(certificate)
  const options = { [oauth.customFetch]: (to: string, init: object) => send(to, init) }
  const as = await oauth.processDiscoveryResponse(url, await oauth.discoveryRequest(url, options))
  const self: oauth.Client = { client_id: clientId, use_mtls_endpoint_aliases: true }
  const hasSecret = clientId === 'web'
  const auth = hasSecret ? oauth.ClientSecretBasic(secrets.web) : oauth.TlsClientAuth()
  return {
    async clientCredentials() {
      const response = await oauth.clientCredentialsGrantRequest(as, self, auth, scope, options)
      return (await oauth.processClientCredentialsResponse(as, self, response)).access_token
    },
    async logIn() {
      const response = await oauth.genericTokenEndpointRequest(as, self, auth, passwordGrant, login, options)
      return (await oauth.processGenericTokenEndpointResponse(as, self, response)).access_token
    },
    userinfo: async (token) =>
      oauth.processUserInfoResponse(as, self, '1', await oauth.userInfoRequest(as, self, token, options)),
    async introspect(token) {
      const api = { client_id: 'api1' }
      const response = await oauth.introspectionRequest(as, api, oauth.ClientSecretBasic(secrets.api1), token, options)
      return oauth.processIntrospectionResponse(as, api, response)
    },
  }
}

/** Tests of both libraries with the server of `writeMtlsSetting`. */
export function testMtlsFlows(issuer: () => string): void {
  const cnf = { 'x5t#S256': ownCertificate.thumbprint }
  describe.each([
    ['openid-client', openidClient],
    ['oauth4webapi', oauth4webapi],
  ])('%s', (_, createParty) => {
    const party = (clientId: string, certificate: Issued | undefined): Promise<Party> =>
      createParty(issuer(), clientId, certificate)

    test.each([
      ['tls_client_auth', 'payments'],
      ['self_signed_tls_client_auth', 'self-signed'],
      ['a secret', 'web'],
    ])('a client with %s gets a token that is bound to its certificate', async (_method, clientId) => {
      const holder = await party(clientId, ownCertificate)
      const token = await holder.clientCredentials()
      expect(await holder.introspect(token)).toMatchObject({ active: true, client_id: clientId, cnf })
    })

    test.each([
      ['another certificate of the authority', otherCertificate],
      ['no certificate', undefined],
    ])('%s authenticates no client', async (_what, certificate) => {
      for (const clientId of ['payments', 'self-signed']) {
        const refused = (await party(clientId, certificate)).clientCredentials()
        await expect(refused).rejects.toMatchObject({ status: 401 })
      }
    })

    test('a client with a secret gets no token without a certificate', async () => {
      const refused = (await party('web', undefined)).clientCredentials()
      await expect(refused).rejects.toMatchObject({ error: 'invalid_request' })
    })

    test('a stolen token is useless at userinfo without its certificate', async () => {
      const holder = await party('web', ownCertificate)
      const token = await holder.logIn()
      expect(await holder.userinfo(token)).toMatchObject({ sub: '1', name: 'Alice Smith' })
      for (const certificate of [otherCertificate, undefined]) {
        await expect((await party('web', certificate)).userinfo(token)).rejects.toMatchObject({ status: 401 })
      }
    })
  })

  test('a forged certificate, and one in the header of the client, authenticate no client', async () => {
    const body = new URLSearchParams({ ...scope, grant_type: 'client_credentials', client_id: 'payments' })
    const send = async (certificate: Issued | undefined, headers: Record<string, string>): Promise<number> => {
      const request = { method: 'POST', headers, body }
      return (await fetchWith(certificate)(`${issuer()}/connect/token`, request)).status
    }
    const header = { 'x-client-cert': encodeURIComponent(ownCertificate.pem) }
    // nginx itself refuses the certificate of another authority.
    expect([400, 401]).toContain(await send(forged, {}))
    expect([400, 401]).toContain(await send(forged, header))
    expect(await send(undefined, header)).toBe(401)
    expect(await send(otherCertificate, header)).toBe(401)
    expect(await send(ownCertificate, {})).toBe(200)
  })
}
