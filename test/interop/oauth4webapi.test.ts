import { createHash } from 'node:crypto'
import * as oauth from 'oauth4webapi'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { api1, api2, redirectUri, spaClientId, web, webJwt } from '../support/fixture.ts'
import { awkward, awkwardApi, type RunningProvider, startProvider } from './running-server.ts'

const insecure = { [oauth.allowInsecureRequests]: true }
const { ClientSecretBasic, ClientSecretPost } = oauth

async function discover(issuer: string, algorithm: 'oidc' | 'oauth2' = 'oidc'): Promise<oauth.AuthorizationServer> {
  const response = await oauth.discoveryRequest(new URL(issuer), { algorithm, ...insecure })
  return oauth.processDiscoveryResponse(new URL(issuer), response)
}

let server: RunningProvider
let as: oauth.AuthorizationServer
beforeAll(async () => {
  server = await startProvider()
  as = await discover(server.issuer)
})
afterAll(() => server.close())

interface Party {
  readonly client: oauth.Client
  readonly authentication: oauth.ClientAuth
}
const party = (client_id: string, authentication: oauth.ClientAuth): Party => ({
  client: { client_id },
  authentication,
})
const webParty = party(web[0], ClientSecretBasic(web[1]))

async function clientCredentials({ client, authentication }: Party, scope: string, at = as) {
  const response = await oauth.clientCredentialsGrantRequest(at, client, authentication, { scope }, insecure)
  return oauth.processClientCredentialsResponse(at, client, response)
}

async function introspect({ client, authentication }: Party, token: string): Promise<oauth.IntrospectionResponse> {
  const response = await oauth.introspectionRequest(as, client, authentication, token, insecure)
  return oauth.processIntrospectionResponse(as, client, response)
}

/** The library creates the request, the login page responds, and the library checks the response. */
async function authorize({ client }: Party, scope: string) {
  const verifier = oauth.generateRandomCodeVerifier()
  const state = oauth.generateRandomState()
  const nonce = oauth.generateRandomNonce()
  const url = new URL(as.authorization_endpoint ?? '')
  url.search = new URLSearchParams({
    response_type: 'code',
    client_id: client.client_id,
    redirect_uri: redirectUri,
    scope,
    state,
    nonce,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  }).toString()
  const callback = oauth.validateAuthResponse(as, client, await server.login(url), state)
  return { callback, verifier, nonce }
}

type Authorized = Awaited<ReturnType<typeof authorize>>

/** Redeems the code, and verifies the identity token with its signature. */
async function redeem({ client, authentication }: Party, { callback, verifier, nonce }: Authorized) {
  const request = [as, client, authentication, callback, redirectUri, verifier, insecure] as const
  const response = await oauth.authorizationCodeGrantRequest(...request)
  const checks = { expectedNonce: nonce, maxAge: 300, requireIdToken: true }
  const tokens = await oauth.processAuthorizationCodeResponse(as, client, response, checks)
  await oauth.validateApplicationLevelSignature(as, response, insecure)
  return tokens
}

async function refresh({ client, authentication }: Party, token = '') {
  const response = await oauth.refreshTokenGrantRequest(as, client, authentication, token, insecure)
  const tokens = await oauth.processRefreshTokenResponse(as, client, response)
  if (tokens.id_token !== undefined) await oauth.validateApplicationLevelSignature(as, response, insecure)
  return tokens
}

async function userinfo({ client }: Party, accessToken: string) {
  const response = await oauth.userInfoRequest(as, client, accessToken, insecure)
  return oauth.processUserInfoResponse(as, client, '1', response)
}

const atHash = (accessToken: string): string =>
  createHash('sha256').update(accessToken).digest().subarray(0, 16).toString('base64url')

const callApi = (token: string): Request =>
  new Request('https://api1.example.com/things', { headers: { authorization: `Bearer ${token}` } })
const api1Audience = 'https://api1.example.com'

describe('oauth4webapi', () => {
  test.each(['oidc', 'oauth2'] as const)('discovers an issuer with and without a path by %s', async (algorithm) => {
    expect(await discover(server.issuer, algorithm)).toEqual(server.provider.metadata)
    const tenant = await startProvider('/tenant/one')
    try {
      const metadata = await discover(tenant.issuer, algorithm)
      expect(metadata.token_endpoint).toBe(`${tenant.issuer}/connect/token`)
      expect(await clientCredentials(webParty, 'api1', metadata)).toHaveProperty('scope', 'api1')
    } finally {
      await tenant.close()
    }
  })

  test.each([
    ['Basic', ClientSecretBasic],
    ['post', ClientSecretPost],
  ])('client credentials with %s', async (_method, authentication) => {
    const tokens = await clientCredentials(party(web[0], authentication(web[1])), 'api1 api2')
    expect(tokens).toMatchObject({ token_type: 'bearer', scope: 'api1 api2', expires_in: 3600 })
  })

  // With Basic the library sends `my%2Dclient`, and `+` for a space.
  test.each([
    ['Basic', ClientSecretBasic],
    ['post', ClientSecretPost],
  ])('authenticates with an id and a secret that need form-encoding, with %s', async (_method, authentication) => {
    const tokens = await clientCredentials(party(awkward[0], authentication(awkward[1])), 'my-api')
    const api = party(awkwardApi[0], authentication(awkwardApi[1]))
    expect(await introspect(api, tokens.access_token)).toMatchObject({ active: true, client_id: awkward[0] })
  })

  test('gets a token with the password grant by a generic token endpoint request', async () => {
    const { client, authentication } = webParty
    const form = { username: 'alice', password: 'alice-password', scope: 'openid profile' }
    const response = await oauth.genericTokenEndpointRequest(as, client, authentication, 'password', form, insecure)
    const tokens = await oauth.processGenericTokenEndpointResponse(as, client, response)
    expect(await userinfo(webParty, tokens.access_token)).toMatchObject({ sub: '1', given_name: 'Alice' })
  })

  test.each([
    ['a confidential client', party(web[0], ClientSecretBasic(web[1]))],
    ['a public client', party(spaClientId, oauth.None())],
  ])('authorization code with S256 of %s, then a refresh that rotates', async (_kind, who) => {
    const authorized = await authorize(who, 'openid profile offline_access')
    const first = await redeem(who, authorized)
    const claims = oauth.getValidatedIdTokenClaims(first)
    expect(claims).toMatchObject({ iss: server.issuer, aud: who.client.client_id, sub: '1', nonce: authorized.nonce })
    expect(claims?.at_hash).toBe(atHash(first.access_token))
    expect(await userinfo(who, first.access_token)).toHaveProperty('name', 'Alice Smith')

    const next = await refresh(who, first.refresh_token)
    expect(next.refresh_token).toBeTypeOf('string')
    expect(next.refresh_token).not.toBe(first.refresh_token)
    const nextClaims = oauth.getValidatedIdTokenClaims(next)
    expect(nextClaims).toMatchObject({ sub: '1', auth_time: claims?.auth_time, at_hash: atHash(next.access_token) })
    expect(nextClaims).not.toHaveProperty('nonce')
  })

  test('a replayed code is a ResponseBodyError invalid_grant, and its tokens are revoked', async () => {
    const authorized = await authorize(webParty, 'openid')
    const { access_token } = await redeem(webParty, authorized)
    const invalidGrant = { name: 'ResponseBodyError', error: 'invalid_grant', status: 400 }
    await expect(redeem(webParty, authorized)).rejects.toMatchObject(invalidGrant)
    const parameters = expect.objectContaining({ error: 'invalid_token' })
    await expect(userinfo(webParty, access_token)).rejects.toMatchObject({ cause: [{ scheme: 'bearer', parameters }] })
  })

  test.each([
    ['Basic', ClientSecretBasic],
    ['post', ClientSecretPost],
  ])('gets a challenge and invalid_client for a wrong secret with %s', async (_method, authentication) => {
    const stranger = party(web[0], authentication('wrong'))
    const thrown: unknown = await clientCredentials(stranger, 'api1').catch((error) => error)
    expect(thrown).toBeInstanceOf(oauth.WWWAuthenticateChallengeError)
    const { status, cause, response } = thrown as oauth.WWWAuthenticateChallengeError
    expect([status, cause]).toEqual([401, [{ scheme: 'basic', parameters: { realm: server.issuer } }]])
    expect(await response.json()).toMatchObject({ error: 'invalid_client' })
  })

  test.each([
    ['reference token', webParty],
    ['JWT', party(webJwt[0], ClientSecretBasic(webJwt[1]))],
  ])('introspection of a %s by the scope credential', async (_format, who) => {
    const { access_token } = await clientCredentials(who, 'api1')
    const active = await introspect(party(api1[0], ClientSecretBasic(api1[1])), access_token)
    expect(active).toMatchObject({ active: true, scope: 'api1', client_id: who.client.client_id, aud: api1Audience })
    const unrelated = party(api2[0], ClientSecretBasic(api2[1]))
    expect(await introspect(unrelated, access_token)).toEqual({ active: false })
  })
})

describe('oauth4webapi as a resource server', () => {
  const jwtParty = party(webJwt[0], ClientSecretBasic(webJwt[1]))
  const validate = (token: string): Promise<oauth.JWTAccessTokenClaims> =>
    oauth.validateJwtAccessToken(as, callApi(token), api1Audience, insecure)

  test("accepts a user's JWT access token", async () => {
    const { access_token } = await redeem(jwtParty, await authorize(jwtParty, 'openid api1'))
    const claims = { iss: server.issuer, aud: api1Audience, sub: '1', client_id: webJwt[0], scope: 'openid api1' }
    expect(await validate(access_token)).toMatchObject(claims)
  })

  // docs/decisions/0036: by default a client-only token has no `sub`, which RFC 9068 section 2.2 would require.
  test('misses only sub in a client-only JWT access token', async () => {
    const { access_token } = await clientCredentials(jwtParty, 'api1')
    await expect(validate(access_token)).rejects.toThrow('JWT "sub" (subject) claim missing')
  })

  test('accepts a client-only JWT access token when clientTokenSubject is client_id', async () => {
    const profiled = await startProvider('', { clientTokenSubject: 'client_id' })
    try {
      const metadata = await discover(profiled.issuer)
      const { access_token } = await clientCredentials(jwtParty, 'api1', metadata)
      const claims = await oauth.validateJwtAccessToken(metadata, callApi(access_token), api1Audience, insecure)
      expect(claims).toMatchObject({ sub: webJwt[0], client_id: webJwt[0], scope: 'api1' })
    } finally {
      await profiled.close()
    }
  })

  test('rejects an identity token, a token for another API, and a changed signature', async () => {
    const tokens = await redeem(jwtParty, await authorize(jwtParty, 'openid api1'))
    await expect(validate(tokens.id_token ?? '')).rejects.toThrow('unexpected JWT "typ" header parameter value')

    const elsewhere = await redeem(jwtParty, await authorize(jwtParty, 'openid api2'))
    const wrongAudience = { cause: { claim: 'aud', expected: api1Audience } }
    await expect(validate(elsewhere.access_token)).rejects.toMatchObject(wrongAudience)

    const [header, payload] = tokens.access_token.split('.')
    const [, , signature] = elsewhere.access_token.split('.')
    await expect(validate(`${header}.${payload}.${signature}`)).rejects.toThrow('JWT signature verification failed')
  })
})
