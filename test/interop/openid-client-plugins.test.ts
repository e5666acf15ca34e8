import { storeGrant } from '@grantry/testing'
import * as client from 'openid-client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { api1, api2, redirectUri, web } from '../support/fixture.ts'
import {
  accessTokenType,
  type ConfiguredServer,
  deviceClientId,
  exchangeGrantType,
  gateway,
  keyAlgorithms,
  keyClientId,
  sharedSecret,
  startConfiguredServer,
} from './configured-server.ts'

let server: ConfiguredServer
beforeAll(async () => {
  server = await startConfiguredServer()
})
afterAll(() => server.close(0))

const { ClientSecretBasic, ClientSecretJwt, None, PrivateKeyJwt } = client

/** Non-repudiation checks make the library verify signatures against our JWKS. */
const discover = (
  clientId: string,
  authentication: client.ClientAuth,
  metadata?: Partial<client.ClientMetadata>,
): Promise<client.Configuration> =>
  client.discovery(new URL(server.issuer), clientId, metadata, authentication, {
    execute: [client.allowInsecureRequests, client.enableNonRepudiationChecks],
  })
const discoverWeb = (): Promise<client.Configuration> => discover(web[0], ClientSecretBasic(web[1]))

const bodyError = (error: string): object => ({ name: 'ResponseBodyError', error })

const introspect = async ([name, secret]: readonly [string, string], token: string, alg?: string) =>
  client.tokenIntrospection(
    await discover(
      name,
      ClientSecretBasic(secret),
      alg === undefined ? {} : { introspection_signed_response_alg: alg },
    ),
    token,
  )

describe('openid-client with the ready server and its plugins', () => {
  test('device authorization: the user approves while the device polls, then the device refreshes', async () => {
    const config = await discover(deviceClientId, None())
    const device = await client.initiateDeviceAuthorization(config, { scope: 'openid profile offline_access api1' })
    expect(device.verification_uri_complete).toBe(`${server.issuer}/device?user_code=${device.user_code}`)
    const polling = client.pollDeviceAuthorizationGrant(config, device)
    expect(await server.decide(device.user_code.toLowerCase(), true)).toBe(true)
    const tokens = await polling
    expect(tokens.claims()).toMatchObject({ iss: server.issuer, aud: deviceClientId, sub: '1' })
    expect(await client.fetchUserInfo(config, tokens.access_token, '1')).toHaveProperty('name', 'Alice Smith')
    const next = await client.refreshTokenGrant(config, tokens.refresh_token ?? '')
    expect(next.claims()?.sub).toBe('1')
  })

  test('device authorization: the user denies', async () => {
    const config = await discover(deviceClientId, None())
    const device = await client.initiateDeviceAuthorization(config, { scope: 'api1' })
    await server.decide(device.user_code, false)
    await expect(client.pollDeviceAuthorizationGrant(config, device)).rejects.toMatchObject(bodyError('access_denied'))
  })

  test.each(keyAlgorithms)('private_key_jwt with %s at the token and the revocation endpoint', async (alg) => {
    const { privateKey } = server.clientKeys[alg]
    const config = await discover(keyClientId, PrivateKeyJwt({ key: privateKey, kid: alg }))
    const { access_token } = await client.clientCredentialsGrant(config, { scope: 'api1' })
    expect(await introspect(api1, access_token)).toMatchObject({ active: true, client_id: keyClientId })
    await client.tokenRevocation(config, access_token)
    expect(await introspect(api1, access_token)).toEqual({ active: false })
  })

  test('private_key_jwt of a client without keys', async () => {
    const { privateKey } = server.clientKeys.ES256
    const config = await discover(sharedSecret[0], PrivateKeyJwt({ key: privateKey, kid: 'ES256' }))
    await expect(client.clientCredentialsGrant(config, { scope: 'api1' })).rejects.toMatchObject({ status: 401 })
  })

  test('DPoP with nonces: device authorization', async () => {
    const config = await discover(deviceClientId, None())
    const DPoP = client.getDPoPHandle(config, await client.randomDPoPKeyPair())
    const device = await client.initiateDeviceAuthorization(config, { scope: 'openid profile offline_access' })
    const polling = client.pollDeviceAuthorizationGrant(config, device, undefined, { DPoP })
    expect(await server.decide(device.user_code, true)).toBe(true)
    const tokens = await polling
    expect(await client.fetchUserInfo(config, tokens.access_token, '1', { DPoP })).toHaveProperty('sub', '1')
    const unproved = client.refreshTokenGrant(config, tokens.refresh_token ?? '')
    await expect(unproved).rejects.toMatchObject(bodyError('invalid_grant'))
    const next = await client.refreshTokenGrant(config, tokens.refresh_token ?? '', undefined, { DPoP })
    expect(next.token_type).toBe('dpop')
  })

  test('DPoP with nonces: private_key_jwt, with another assertion for the repeated request', async () => {
    const { privateKey } = server.clientKeys.ES256
    const config = await discover(keyClientId, PrivateKeyJwt({ key: privateKey, kid: 'ES256' }))
    const DPoP = client.getDPoPHandle(config, await client.randomDPoPKeyPair())
    const tokens = await client.clientCredentialsGrant(config, { scope: 'api1' }, { DPoP })
    const jkt = await DPoP.calculateThumbprint()
    expect(await introspect(api1, tokens.access_token, 'ES256')).toMatchObject({ active: true, cnf: { jkt } })
  })

  test('client_secret_jwt', async () => {
    const config = await discover(sharedSecret[0], ClientSecretJwt(sharedSecret[1]))
    expect(await client.clientCredentialsGrant(config, { scope: 'api1' })).toMatchObject({ scope: 'api1' })
    const wrong = await discover(sharedSecret[0], ClientSecretJwt('another secret of more than 32 bytes'))
    await expect(client.clientCredentialsGrant(wrong, { scope: 'api1' })).rejects.toMatchObject({ status: 401 })
  })

  test('resource: one of two APIs, both, and an unknown one', async () => {
    const config = await discoverWeb()
    const resource = 'https://api2.example.com'
    const { access_token, scope } = await client.clientCredentialsGrant(config, { scope: 'api1 api2', resource })
    expect(scope).toBe('api2')
    expect(await introspect(api2, access_token)).toMatchObject({ active: true, aud: resource })
    expect(await introspect(api1, access_token)).toEqual({ active: false })

    const both = new URLSearchParams({ scope: 'api1 api2', resource })
    both.append('resource', 'https://api1.example.com')
    expect(await client.clientCredentialsGrant(config, both)).toMatchObject({ scope: 'api1 api2' })
    const unknown = { scope: 'api1', resource: 'https://unknown.example.com' }
    await expect(client.clientCredentialsGrant(config, unknown)).rejects.toMatchObject(bodyError('invalid_target'))
  })

  test('resource of an authorization: narrowed in each token request', async () => {
    const config = await discoverWeb()
    const [first, second] = ['https://api1.example.com', 'https://api2.example.com'] as const
    const pkceCodeVerifier = client.randomPKCECodeVerifier()
    const code = await storeGrant(server.provider, {
      kind: 'code',
      clientId: web[0],
      redirectUri,
      scopes: ['openid', 'offline_access', 'api1', 'api2'],
      subject: { sub: '1', amr: ['pwd'] },
      params: {
        code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
        code_challenge_method: 'S256',
        resource: `${first} ${second}`,
      },
    })
    const callback = new URL(`${redirectUri}?code=${code}`)
    const tokens = await client.authorizationCodeGrant(config, callback, { pkceCodeVerifier }, { resource: first })
    expect(tokens.scope?.split(' ')).toEqual(expect.arrayContaining(['openid', 'api1']))
    expect(await introspect(api1, tokens.access_token)).toMatchObject({ active: true, aud: first })
    expect(await introspect(api2, tokens.access_token)).toEqual({ active: false })
    const next = await client.refreshTokenGrant(config, tokens.refresh_token ?? '', { resource: second })
    expect(await introspect(api2, next.access_token)).toMatchObject({ active: true, aud: second })
    const unknown = client.refreshTokenGrant(config, next.refresh_token ?? '', { resource: 'https://a.example.com' })
    await expect(unknown).rejects.toMatchObject(bodyError('invalid_target'))
  })

  test('JWT introspection, with the signature verified', async () => {
    const { access_token } = await client.clientCredentialsGrant(await discoverWeb(), { scope: 'api1' })
    expect(await introspect(api1, access_token, 'ES256')).toMatchObject({ active: true, scope: 'api1' })
    expect(await introspect(api2, access_token, 'ES256')).toEqual({ active: false })
  })

  test('token exchange', async () => {
    const login = { username: 'alice', password: 'alice-password', scope: 'api1' }
    const { access_token } = await client.genericGrantRequest(await discoverWeb(), 'password', login)
    const config = await discover(gateway[0], ClientSecretBasic(gateway[1]))
    const exchanged = await client.genericGrantRequest(config, exchangeGrantType, {
      subject_token: access_token,
      subject_token_type: accessTokenType,
      resource: 'https://api2.example.com',
    })
    expect(exchanged).toMatchObject({ issued_token_type: accessTokenType, scope: 'api2' })
    expect(await introspect(api2, exchanged.access_token)).toMatchObject({
      active: true,
      sub: '1',
      client_id: gateway[0],
    })
    const foreign = { subject_token: 'unknown', subject_token_type: accessTokenType, scope: 'api2' }
    const refused = client.genericGrantRequest(config, exchangeGrantType, foreign)
    await expect(refused).rejects.toMatchObject(bodyError('invalid_request'))
  })
})
