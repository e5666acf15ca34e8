import { createHash } from 'node:crypto'
import * as client from 'openid-client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { api1, api2, redirectUri, spaClientId, web } from '../support/fixture.ts'
import { withoutSignatures } from '../support/same-tokens.ts'
import { awkward, awkwardApi, noRetry, type RunningProvider, startProvider } from './running-server.ts'

let server: RunningProvider
beforeAll(async () => {
  server = await startProvider()
})
afterAll(() => server.close())

const { ClientSecretBasic, ClientSecretPost, None } = client

/** Non-repudiation checks make the library verify the signature of every identity token against our JWKS. */
const discover = (clientId: string, authentication: client.ClientAuth): Promise<client.Configuration> =>
  client.discovery(new URL(server.issuer), clientId, undefined, authentication, {
    execute: [client.allowInsecureRequests, client.enableNonRepudiationChecks],
  })
const discoverWeb = (): Promise<client.Configuration> => discover(web[0], ClientSecretBasic(web[1]))

interface Request {
  readonly callback: URL
  readonly checks: client.AuthorizationCodeGrantChecks & { readonly expectedNonce: string }
}

/** The library creates the request, the login page responds. */
async function authorize(config: client.Configuration, scope: string): Promise<Request> {
  const pkceCodeVerifier = client.randomPKCECodeVerifier()
  const expectedState = client.randomState()
  const expectedNonce = client.randomNonce()
  const url = client.buildAuthorizationUrl(config, {
    redirect_uri: redirectUri,
    scope,
    state: expectedState,
    nonce: expectedNonce,
    code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
  })
  const callback = await server.login(url)
  return { callback, checks: { pkceCodeVerifier, expectedState, expectedNonce, maxAge: 300, idTokenExpected: true } }
}

async function signIn(config: client.Configuration, scope = 'openid profile offline_access api1') {
  const { callback, checks } = await authorize(config, scope)
  return client.authorizationCodeGrant(config, callback, checks)
}

/** The error that the library throws for an OAuth error in the body. */
const bodyError = (error: string): object => ({ name: 'ResponseBodyError', code: 'OAUTH_RESPONSE_BODY_ERROR', error })

const challenged = (status: number, scheme: string, parameters: object): object => ({
  name: 'WWWAuthenticateChallengeError',
  status,
  cause: [{ scheme, parameters: expect.objectContaining({ realm: server.issuer, ...parameters }) }],
})

/** The reason for the server's last refusal; the wire only has `invalid_grant`. */
const lastReason = (): string | undefined =>
  server.events.flatMap((event) => (event.type === 'endpoint_failed' ? [event.reason] : [])).at(-1)

const atHash = (accessToken: string): string =>
  createHash('sha256').update(accessToken).digest().subarray(0, 16).toString('base64url')

describe('openid-client', () => {
  test('discovers the provider', async () => {
    const metadata = (await discoverWeb()).serverMetadata()
    expect(metadata.issuer).toBe(server.issuer)
    expect(metadata.token_endpoint).toBe(`${server.issuer}/connect/token`)
    expect(metadata.authorization_endpoint).toBe(`${server.issuer}/login`)
    expect(metadata.supportsPKCE()).toBe(true)
  })

  test.each([
    ['Basic', ClientSecretBasic],
    ['post', ClientSecretPost],
  ])('client credentials with %s', async (_method, authentication) => {
    const config = await discover(web[0], authentication(web[1]))
    const tokens = await client.clientCredentialsGrant(config, { scope: 'api1' })
    expect(tokens).toMatchObject({ token_type: 'bearer', scope: 'api1', expires_in: 3600 })
    expect(tokens.expiresIn()).toBeGreaterThan(3590)
    expect(tokens.refresh_token).toBeUndefined()
    expect(tokens.id_token).toBeUndefined()
  })

  test.each([
    ['Basic', ClientSecretBasic],
    ['post', ClientSecretPost],
  ])('authenticates with an id and a secret that need form-encoding, with %s', async (_method, authentication) => {
    const config = await discover(awkward[0], authentication(awkward[1]))
    const { access_token } = await client.clientCredentialsGrant(config, { scope: 'my-api' })

    const api = await discover(awkwardApi[0], authentication(awkwardApi[1]))
    expect(await client.tokenIntrospection(api, access_token)).toMatchObject({ active: true, client_id: awkward[0] })
  })

  test('gets a token with the password grant by a generic grant request', async () => {
    const config = await discoverWeb()
    const form = { username: 'alice', password: 'alice-password', scope: 'openid roles offline_access' }
    const tokens = await client.genericGrantRequest(config, 'password', form)
    expect(tokens.scope).toBe('openid roles offline_access')
    expect(tokens.refresh_token).toBeTypeOf('string')
    expect(await client.fetchUserInfo(config, tokens.access_token, '1')).toEqual({
      sub: '1',
      role: ['admin', 'editor'],
    })

    const wrong = client.genericGrantRequest(config, 'password', { ...form, password: 'guess' })
    await expect(wrong).rejects.toMatchObject({ ...bodyError('invalid_grant'), status: 400 })
  })

  test('authorization code with S256, nonce, max_age and userinfo', async () => {
    const config = await discoverWeb()
    const { callback, checks } = await authorize(config, 'openid profile email offline_access api1')
    const tokens = await client.authorizationCodeGrant(config, callback, checks)
    const claims = tokens.claims()
    expect(claims).toMatchObject({ iss: server.issuer, aud: web[0], sub: '1', nonce: checks.expectedNonce })
    expect(claims?.at_hash).toBe(atHash(tokens.access_token))
    expect(await client.fetchUserInfo(config, tokens.access_token, '1')).toEqual({
      sub: '1',
      name: 'Alice Smith',
      given_name: 'Alice',
      family_name: 'Smith',
      email: 'alice@example.com',
    })
  })

  test('authorization code and refresh of a public client', async () => {
    const config = await discover(spaClientId, None())
    const tokens = await signIn(config)
    expect(tokens.claims()).toMatchObject({ aud: spaClientId, sub: '1' })
    const next = await client.refreshTokenGrant(config, tokens.refresh_token ?? '')
    expect(next.refresh_token).toBeTypeOf('string')
    expect(next.refresh_token).not.toBe(tokens.refresh_token)
  })

  test('rotates on refresh, and the new identity token describes the same login', async () => {
    const config = await discoverWeb()
    const first = await signIn(config)
    const next = await client.refreshTokenGrant(config, first.refresh_token ?? '')
    expect(next.refresh_token).toBeTypeOf('string')
    expect(next.refresh_token).not.toBe(first.refresh_token)
    const { iss, sub, aud, auth_time } = first.claims() ?? {}
    expect(next.claims()).toMatchObject({ iss, sub, aud, auth_time, at_hash: atHash(next.access_token) })
    expect(next.claims()).not.toHaveProperty('nonce')
    expect(await client.fetchUserInfo(config, next.access_token, '1')).toHaveProperty('name', 'Alice Smith')
  })

  test('a scope can be narrowed on refresh, not widened', async () => {
    const config = await discoverWeb()
    const { refresh_token = '' } = await signIn(config, 'openid profile offline_access')
    const wider = client.refreshTokenGrant(config, refresh_token, { scope: 'openid api1' })
    await expect(wider).rejects.toMatchObject(bodyError('invalid_scope'))
    expect(await client.refreshTokenGrant(config, refresh_token, { scope: 'openid' })).toHaveProperty('scope', 'openid')
  })

  test('a lost refresh response can be requested again', async () => {
    const config = await discoverWeb()
    const { refresh_token = '' } = await signIn(config)
    const lost = await client.refreshTokenGrant(config, refresh_token)
    const again = await client.refreshTokenGrant(config, refresh_token)
    expect(withoutSignatures(again)).toEqual(withoutSignatures(lost))
  })

  test('a reused refresh token is invalid_grant, and its successor then is too', async () => {
    const config = await discover(noRetry[0], ClientSecretBasic(noRetry[1]))
    const { refresh_token: stolen = '' } = await signIn(config, 'openid offline_access')
    const { refresh_token: successor = '' } = await client.refreshTokenGrant(config, stolen)
    await expect(client.refreshTokenGrant(config, stolen)).rejects.toMatchObject(bodyError('invalid_grant'))
    expect(lastReason()).toBe('refresh_reused')
    await expect(client.refreshTokenGrant(config, successor)).rejects.toMatchObject(bodyError('invalid_grant'))
  })

  test('a replayed code is invalid_grant, and its tokens are revoked', async () => {
    const config = await discoverWeb()
    const { callback, checks } = await authorize(config, 'openid')
    const { access_token } = await client.authorizationCodeGrant(config, callback, { ...checks })
    const replay = client.authorizationCodeGrant(config, callback, { ...checks })
    await expect(replay).rejects.toMatchObject({ ...bodyError('invalid_grant'), status: 400 })
    expect(lastReason()).toBe('code_replayed')
    const userinfo = client.fetchUserInfo(config, access_token, '1')
    await expect(userinfo).rejects.toMatchObject(challenged(401, 'bearer', { error: 'invalid_token' }))
  })

  test('a wrong verifier is invalid_grant and does not spend the code', async () => {
    const config = await discoverWeb()
    const { callback, checks } = await authorize(config, 'openid')
    const pkceCodeVerifier = client.randomPKCECodeVerifier()
    const wrong = client.authorizationCodeGrant(config, callback, { ...checks, pkceCodeVerifier })
    await expect(wrong).rejects.toMatchObject(bodyError('invalid_grant'))
    expect(lastReason()).toBe('plugin:proof-key:verifier_mismatch')
    const right = await client.authorizationCodeGrant(config, callback, { ...checks })
    expect(right.claims()).toHaveProperty('sub', '1')
  })

  test.each([
    ['Basic', ClientSecretBasic],
    ['post', ClientSecretPost],
  ])('gets a challenge and invalid_client for a wrong secret with %s', async (_method, authentication) => {
    const config = await discover(web[0], authentication('wrong'))
    const thrown: unknown = await client.clientCredentialsGrant(config, { scope: 'api1' }).catch((error) => error)
    expect(thrown).toMatchObject(challenged(401, 'basic', {}))
    const { response } = thrown as client.WWWAuthenticateChallengeError
    expect(await response.json()).toMatchObject({ error: 'invalid_client' })
  })

  test('introspects with the scope credential', async () => {
    const { access_token } = await client.clientCredentialsGrant(await discoverWeb(), { scope: 'api1' })
    const api = await discover(api1[0], ClientSecretBasic(api1[1]))
    const active = await client.tokenIntrospection(api, access_token)
    expect(active).toMatchObject({ active: true, scope: 'api1', client_id: web[0], iss: server.issuer })
    expect(active.exp).toBeTypeOf('number')
    expect(await client.tokenIntrospection(api, 'unknown')).toEqual({ active: false })

    const unrelated = await discover(api2[0], ClientSecretBasic(api2[1]))
    expect(await client.tokenIntrospection(unrelated, access_token)).toEqual({ active: false })
    const stranger = await discover(api1[0], ClientSecretBasic('wrong'))
    await expect(client.tokenIntrospection(stranger, access_token)).rejects.toMatchObject(challenged(401, 'basic', {}))
  })

  test('userinfo without the scope openid is a challenge for that scope', async () => {
    const config = await discoverWeb()
    const { access_token } = await client.clientCredentialsGrant(config, { scope: 'api1' })
    const refused = client.fetchUserInfo(config, access_token, '1')
    const challenge = { error: 'insufficient_scope', scope: 'openid' }
    await expect(refused).rejects.toMatchObject(challenged(403, 'bearer', challenge))
  })
})
