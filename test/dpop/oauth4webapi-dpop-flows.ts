import * as oauth from 'oauth4webapi'
import { beforeAll, expect, test } from 'vitest'
import { redirectUri, spaClientId } from '../support/fixture.ts'
import { logIn, service } from './server.ts'

const serviceClient = { client_id: service[0] }
const serviceAuth = oauth.ClientSecretBasic(service[1])
const spa = { client_id: spaClientId }

const newHandle = async (client: oauth.Client): Promise<oauth.DPoPHandle> =>
  oauth.DPoP(client, await oauth.generateKeyPair('ES256'))

/** Sends a request, and again with the nonce of the response if the server requires one. */
async function withNonce<T>(send: () => Promise<T>): Promise<T> {
  try {
    return await send()
  } catch (error) {
    if (!oauth.isDPoPNonceError(error)) throw error
    return send()
  }
}

/**
 * Tests of `oauth4webapi` with a server whose plugin is `dpop`.
 *
 * @param nonce whether the server requires nonces
 * @param send sends the requests, if the server has a certificate of the tests
 */
export function testOauth4webapiFlows(issuerOf: () => string, nonce: boolean, send: typeof fetch = fetch): void {
  const plain = {
    [oauth.allowInsecureRequests]: true,
    [oauth.customFetch]: (url: string, options: object) => send(url, options),
  }
  let as: oauth.AuthorizationServer
  beforeAll(async () => {
    const issuer = new URL(issuerOf())
    as = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, plain))
  })

  async function clientCredentials(DPoP: oauth.DPoPHandle, options: oauth.ClientCredentialsGrantRequestOptions = {}) {
    const all = { ...plain, ...options, DPoP }
    const request = [as, serviceClient, serviceAuth, { scope: 'api1' }, all] as const
    const response = await oauth.clientCredentialsGrantRequest(...request)
    return oauth.processClientCredentialsResponse(as, serviceClient, response)
  }

  test('the first request fails for want of a nonce exactly if the server requires one', async () => {
    const first = await clientCredentials(await newHandle(serviceClient)).catch(oauth.isDPoPNonceError)
    expect(first === true).toBe(nonce)
  })

  test('a JWT access token, validated by an API together with the proof of its request', async () => {
    const DPoP = await newHandle(serviceClient)
    const { access_token } = await withNonce(() => clientCredentials(DPoP))
    const url = new URL('https://api1.example.com/orders')
    const validate = (request: Request) =>
      oauth.validateJwtAccessToken(as, request, 'https://api1.example.com', { ...plain, requireDPoP: true })
    let sent: Request | undefined
    const record = async (to: string, { headers }: { headers: Record<string, string> }): Promise<Response> => {
      sent = new Request(to, { headers })
      return new Response()
    }
    const options = { DPoP, [oauth.customFetch]: record }
    await oauth.protectedResourceRequest(access_token, 'GET', url, undefined, undefined, options)
    const jkt = await DPoP.calculateThumbprint()
    expect(await validate(sent ?? new Request(url))).toMatchObject({ client_id: service[0], cnf: { jkt } })
    const asBearer = new Request(url, { headers: { authorization: `Bearer ${access_token}` } })
    await expect(validate(asBearer)).rejects.toThrow()
  })

  test('a proof that was seen on its way is refused', async () => {
    const DPoP = await newHandle(serviceClient)
    await withNonce(() => clientCredentials(DPoP))
    let proof: string | undefined
    const use = (change: (headers: Record<string, string>) => void) => ({
      [oauth.customFetch]: (url: string, options: oauth.CustomFetchOptions<'POST', URLSearchParams>) => {
        change(options.headers)
        return send(url, options as RequestInit)
      },
    })
    const record = use(({ dpop }) => {
      proof = dpop
    })
    await clientCredentials(DPoP, record)
    const replay = use((headers) => {
      headers.dpop = proof ?? ''
    })
    await expect(clientCredentials(DPoP, replay)).rejects.toMatchObject({ error: 'invalid_dpop_proof' })
  })

  test('authorization code with PKCE and dpop_jkt, userinfo and refresh of a public client', async () => {
    const DPoP = await newHandle(spa)
    const verifier = oauth.generateRandomCodeVerifier()
    const url = new URL(as.authorization_endpoint ?? '')
    url.search = new URLSearchParams({
      response_type: 'code',
      client_id: spaClientId,
      redirect_uri: redirectUri,
      scope: 'openid profile offline_access api1',
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      dpop_jkt: await DPoP.calculateThumbprint(),
    }).toString()
    const callback = await logIn(url)
    callback.searchParams.delete('state')
    const parameters = oauth.validateAuthResponse(as, spa, callback, oauth.expectNoState)
    const options = { ...plain, DPoP }

    const redeem = [as, spa, oauth.None(), parameters, redirectUri, verifier, options] as const
    const { access_token, refresh_token = '' } = await withNonce(async () =>
      oauth.processAuthorizationCodeResponse(as, spa, await oauth.authorizationCodeGrantRequest(...redeem)),
    )
    const userinfo = async (token: string): Promise<oauth.UserInfoResponse> =>
      oauth.processUserInfoResponse(as, spa, '1', await oauth.userInfoRequest(as, spa, token, options))
    expect(await userinfo(access_token)).toHaveProperty('name', 'Alice Smith')

    const refresh = async (DPoP: oauth.DPoPHandle): Promise<oauth.TokenEndpointResponse> => {
      const request = [as, spa, oauth.None(), refresh_token, { ...plain, DPoP }] as const
      return oauth.processRefreshTokenResponse(as, spa, await oauth.refreshTokenGrantRequest(...request))
    }
    const foreign = await newHandle(spa)
    await expect(withNonce(() => refresh(foreign))).rejects.toMatchObject({ error: 'invalid_grant' })
    expect(await userinfo((await refresh(DPoP)).access_token)).toHaveProperty('sub', '1')
  })
}
