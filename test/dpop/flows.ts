import * as client from 'openid-client'
import { expect, test } from 'vitest'
import { api1, redirectUri, spaClientId } from '../support/fixture.ts'
import { logIn, service } from './server.ts'

const { ClientSecretBasic, None } = client

const bodyError = (error: string): object => ({ name: 'ResponseBodyError', error })
const challenge = (error: string): object => ({
  name: 'WWWAuthenticateChallengeError',
  status: 401,
  cause: expect.arrayContaining([
    { scheme: 'dpop', parameters: expect.objectContaining({ error, algs: 'ES256 PS256 EdDSA Ed25519' }) },
  ]),
})

/**
 * Tests of `openid-client` with a server whose plugin is `dpop`.
 *
 * @param nonce whether the server requires nonces
 * @param send sends the requests, if the server has a certificate of the tests
 */
export function testFlows(issuer: () => string, nonce: boolean, send: typeof fetch = fetch): void {
  /** The responses of the server since the discovery. */
  let statuses: number[] = []

  async function discover(clientId: string, authentication: client.ClientAuth): Promise<client.Configuration> {
    const config = await client.discovery(new URL(issuer()), clientId, undefined, authentication, {
      execute: [client.allowInsecureRequests, client.enableNonRepudiationChecks],
      [client.customFetch]: (url, options) => send(url, options as RequestInit),
    })
    statuses = []
    config[client.customFetch] = async (url, options) => {
      const response = await send(url, options as RequestInit)
      statuses.push(response.status)
      return response
    }
    return config
  }
  const discoverService = () => discover(service[0], ClientSecretBasic(service[1]))
  const newHandle = async (config: client.Configuration, alg?: string) =>
    client.getDPoPHandle(config, await client.randomDPoPKeyPair(alg))

  /** The library creates the request, which names the key, and the login page responds. */
  async function authorize(config: client.Configuration, DPoP: client.DPoPHandle) {
    const pkceCodeVerifier = client.randomPKCECodeVerifier()
    const expectedState = client.randomState()
    const url = client.buildAuthorizationUrl(config, {
      redirect_uri: redirectUri,
      scope: 'openid profile offline_access api1',
      state: expectedState,
      code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
      dpop_jkt: await DPoP.calculateThumbprint(),
    })
    return [await logIn(url), { pkceCodeVerifier, expectedState, idTokenExpected: true }] as const
  }

  test.each(['ES256', 'PS256', 'Ed25519'])('client credentials with a key for %s', async (alg) => {
    const config = await discoverService()
    const DPoP = await newHandle(config, alg)
    const { access_token, token_type } = await client.clientCredentialsGrant(config, { scope: 'api1' }, { DPoP })
    expect(token_type).toBe('dpop')
    // The library repeats the first request with the nonce, and remembers it.
    expect(statuses).toEqual(nonce ? [400, 200] : [200])
    await client.clientCredentialsGrant(config, { scope: 'api1' }, { DPoP })
    expect(statuses.slice(nonce ? 2 : 1)).toEqual([200])

    const api = await discover(api1[0], ClientSecretBasic(api1[1]))
    const seen = await client.tokenIntrospection(api, access_token)
    const jkt = await DPoP.calculateThumbprint()
    expect(seen).toMatchObject({ active: true, token_type: 'DPoP', cnf: { jkt } })
  })

  test('a client that requires DPoP gets no token without a proof', async () => {
    const refused = client.clientCredentialsGrant(await discoverService(), { scope: 'api1' })
    await expect(refused).rejects.toMatchObject(bodyError('invalid_request'))
  })

  test('authorization code with PKCE and dpop_jkt, userinfo and refresh of a public client', async () => {
    const config = await discover(spaClientId, None())
    const [DPoP, foreign] = [await newHandle(config), await newHandle(config)]
    const [callback, checks] = await authorize(config, DPoP)
    const stolen = client.authorizationCodeGrant(config, callback, checks, undefined, { DPoP: foreign })
    await expect(stolen).rejects.toMatchObject(bodyError('invalid_grant'))
    const unproved = client.authorizationCodeGrant(config, callback, checks)
    await expect(unproved).rejects.toMatchObject(bodyError('invalid_grant'))
    const tokens = await client.authorizationCodeGrant(config, callback, checks, undefined, { DPoP })
    expect(tokens.claims()).toMatchObject({ aud: spaClientId, sub: '1' })

    const { access_token, refresh_token = '' } = tokens
    expect(await client.fetchUserInfo(config, access_token, '1', { DPoP })).toHaveProperty('name', 'Alice Smith')
    await expect(client.fetchUserInfo(config, access_token, '1', { DPoP: foreign })).rejects.toMatchObject(
      challenge('invalid_token'),
    )
    await expect(client.fetchUserInfo(config, access_token, '1')).rejects.toMatchObject({ status: 401 })

    for (const options of [{ DPoP: foreign }, {}]) {
      const refresh = client.refreshTokenGrant(config, refresh_token, undefined, options)
      await expect(refresh).rejects.toMatchObject(bodyError('invalid_grant'))
    }
    const next = await client.refreshTokenGrant(config, refresh_token, undefined, { DPoP })
    expect(await client.fetchUserInfo(config, next.access_token, '1', { DPoP })).toHaveProperty('sub', '1')
  })

  test('a confidential client refreshes with another key, to which its new tokens are bound', async () => {
    const config = await discoverService()
    const [DPoP, another] = [await newHandle(config), await newHandle(config)]
    const [callback, checks] = await authorize(config, DPoP)
    const { refresh_token = '' } = await client.authorizationCodeGrant(config, callback, checks, undefined, { DPoP })
    const next = await client.refreshTokenGrant(config, refresh_token, undefined, { DPoP: another })
    expect(await client.fetchUserInfo(config, next.access_token, '1', { DPoP: another })).toHaveProperty('sub', '1')
    await expect(client.fetchUserInfo(config, next.access_token, '1', { DPoP })).rejects.toMatchObject(
      challenge('invalid_token'),
    )
  })
}
