import type { Credentials } from '@grantry/testing'
import * as oauth from 'oauth4webapi'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { api1, api2, web } from '../support/fixture.ts'
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

const insecure = { [oauth.allowInsecureRequests]: true }
const { ClientSecretBasic, ClientSecretJwt, None, PrivateKeyJwt } = oauth

let server: ConfiguredServer
let as: oauth.AuthorizationServer
beforeAll(async () => {
  server = await startConfiguredServer()
  const issuer = new URL(server.issuer)
  as = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, insecure))
})
afterAll(() => server.close(0))

async function clientCredentials(
  client_id: string,
  authentication: oauth.ClientAuth,
  parameters: Record<string, string> = { scope: 'api1' },
): Promise<oauth.TokenEndpointResponse> {
  const client = { client_id }
  const response = await oauth.clientCredentialsGrantRequest(as, client, authentication, parameters, insecure)
  return oauth.processClientCredentialsResponse(as, client, response)
}

async function introspect([client_id, secret]: Credentials, token: string, requestJwtResponse = false) {
  const client = { client_id }
  const options = { ...insecure, requestJwtResponse }
  const response = await oauth.introspectionRequest(as, client, ClientSecretBasic(secret), token, options)
  const answer = await oauth.processIntrospectionResponse(as, client, response)
  if (requestJwtResponse) await oauth.validateApplicationLevelSignature(as, response, insecure)
  return answer
}

async function generic([client_id, secret]: Credentials, grantType: string, form: Record<string, string>) {
  const client = { client_id }
  const request = [as, client, ClientSecretBasic(secret), grantType, form, insecure] as const
  return oauth.processGenericTokenEndpointResponse(as, client, await oauth.genericTokenEndpointRequest(...request))
}

const refusedBody = (error: string): object => ({ name: 'ResponseBodyError', error })

describe('oauth4webapi with the ready server and its plugins', () => {
  const tv = { client_id: deviceClientId }

  async function startDevice(scope: string): Promise<oauth.DeviceAuthorizationResponse> {
    const response = await oauth.deviceAuthorizationRequest(as, tv, None(), { scope }, insecure)
    return oauth.processDeviceAuthorizationResponse(as, tv, response)
  }
  const poll = async ({ device_code }: oauth.DeviceAuthorizationResponse) => {
    const response = await oauth.deviceCodeGrantRequest(as, tv, None(), device_code, insecure)
    const tokens = await oauth.processDeviceCodeResponse(as, tv, response)
    if (tokens.id_token !== undefined) await oauth.validateApplicationLevelSignature(as, response, insecure)
    return tokens
  }

  test('device authorization: approved, and the code is redeemed once', async () => {
    const device = await startDevice('openid api1')
    expect(device).toMatchObject({ verification_uri: `${server.issuer}/device`, expires_in: 600, interval: 1 })
    await server.decide(device.user_code, true)
    expect(oauth.getValidatedIdTokenClaims(await poll(device))?.sub).toBe('1')
    await expect(poll(device)).rejects.toMatchObject({ name: 'ResponseBodyError' })
  })

  test('device authorization: pending, too fast, and denied', async () => {
    const device = await startDevice('api1')
    await expect(poll(device)).rejects.toMatchObject(refusedBody('authorization_pending'))
    await expect(poll(device)).rejects.toMatchObject(refusedBody('slow_down'))
    const denied = await startDevice('api1')
    await server.decide(denied.user_code, false)
    await expect(poll(denied)).rejects.toMatchObject(refusedBody('access_denied'))
  })

  test.each(keyAlgorithms)('private_key_jwt with %s', async (alg) => {
    const key = { key: server.clientKeys[alg].privateKey, kid: alg }
    const { access_token } = await clientCredentials(keyClientId, PrivateKeyJwt(key))
    expect(await introspect(api1, access_token)).toMatchObject({ active: true, client_id: keyClientId })
  })

  test('private_key_jwt: the same assertion a second time', async () => {
    let sent: URLSearchParams | undefined
    const sign = PrivateKeyJwt({ key: server.clientKeys.ES256.privateKey, kid: 'ES256' })
    const record: oauth.ClientAuth = async (server, client, body, headers) => {
      await sign(server, client, body, headers)
      sent = new URLSearchParams(body)
    }
    await clientCredentials(keyClientId, record)
    const resend: oauth.ClientAuth = (_server, _client, body) => {
      for (const [name, value] of sent ?? []) body.set(name, value)
    }
    await expect(clientCredentials(keyClientId, resend)).rejects.toMatchObject({ status: 401 })
  })

  test('client_secret_jwt', async () => {
    expect(await clientCredentials(sharedSecret[0], ClientSecretJwt(sharedSecret[1]))).toMatchObject({ scope: 'api1' })
    const wrong = clientCredentials(sharedSecret[0], ClientSecretJwt('another secret of more than 32 bytes'))
    await expect(wrong).rejects.toMatchObject({ status: 401 })
  })

  test('resource', async () => {
    const resource = 'https://api2.example.com'
    const parameters = { scope: 'api1 api2', resource }
    const { access_token, scope } = await clientCredentials(web[0], ClientSecretBasic(web[1]), parameters)
    expect(scope).toBe('api2')
    expect(await introspect(api2, access_token)).toMatchObject({ active: true, aud: resource })
    const unknown = clientCredentials(web[0], ClientSecretBasic(web[1]), {
      ...parameters,
      resource: 'https://a.example',
    })
    await expect(unknown).rejects.toMatchObject(refusedBody('invalid_target'))
  })

  test('JWT introspection, with the signature verified', async () => {
    const { access_token } = await clientCredentials(web[0], ClientSecretBasic(web[1]))
    expect(await introspect(api1, access_token, true)).toMatchObject({ active: true, scope: 'api1' })
    expect(await introspect(api2, access_token, true)).toEqual({ active: false })
  })

  test('token exchange', async () => {
    const login = { username: 'alice', password: 'alice-password', scope: 'api1' }
    const { access_token } = await generic(web, 'password', login)
    const form = {
      subject_token: access_token,
      subject_token_type: accessTokenType,
      requested_token_type: 'urn:ietf:params:oauth:token-type:jwt',
      audience: 'https://api2.example.com',
    }
    const tokens = await generic(gateway, exchangeGrantType, form)
    expect(tokens).toMatchObject({ issued_token_type: form.requested_token_type, scope: 'api2' })
    expect(tokens.access_token.split('.')).toHaveLength(3)
    expect(await introspect(api2, tokens.access_token)).toMatchObject({ active: true, sub: '1', client_id: gateway[0] })
  })
})
