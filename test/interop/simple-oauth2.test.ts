import { createHash, randomBytes } from 'node:crypto'
import { createRequire } from 'node:module'
import type { Credentials } from '@grantry/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { redirectUri, spaClientId, web } from '../support/fixture.ts'
import { awkwardAscii, noRetry, type RunningProvider, startProvider } from './running-server.ts'

// The library has no types; this is the part of its API.md that the tests use.
type Params = Readonly<Record<string, string | readonly string[]>>
interface AccessToken {
  readonly token: Readonly<Record<string, unknown>>
  expired(windowSeconds?: number): boolean
  refresh(params?: Params): Promise<AccessToken>
}
interface GrantType {
  getToken(params: Params): Promise<AccessToken>
  createToken(token: object): AccessToken
}
interface AuthorizationCodeGrantType extends GrantType {
  authorizeURL(params: Params): string
}
interface Options {
  readonly authorizationMethod?: 'header' | 'body'
  readonly credentialsEncodingMode?: 'strict' | 'loose'
}
type Constructor<T> = new (config: object) => T
interface SimpleOAuth2 {
  readonly ClientCredentials: Constructor<GrantType>
  readonly ResourceOwnerPassword: Constructor<GrantType>
  readonly AuthorizationCode: Constructor<AuthorizationCodeGrantType>
}
const library = createRequire(import.meta.url)('simple-oauth2') as SimpleOAuth2

let server: RunningProvider
beforeAll(async () => {
  server = await startProvider()
})
afterAll(() => server.close())

const config = ([id, secret]: Credentials, options: Options = {}): object => ({
  client: { id, secret },
  auth: { tokenHost: server.issuer, tokenPath: '/connect/token' },
  options,
})

function codes([id, secret]: Credentials, options: Options = {}): AuthorizationCodeGrantType {
  const auth = { tokenHost: server.issuer, tokenPath: '/connect/token', authorizePath: '/login' }
  return new library.AuthorizationCode({ client: { id, secret }, auth, options })
}

/** The application itself handles state and proof key; the library passes on unknown parameters. */
async function authorize(client: AuthorizationCodeGrantType, scope: readonly string[]): Promise<Params> {
  const verifier = randomBytes(32).toString('base64url')
  const state = randomBytes(16).toString('base64url')
  const url = client.authorizeURL({
    redirect_uri: redirectUri,
    scope,
    state,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  })
  const callback = await server.login(url)
  expect(callback.searchParams.get('state')).toBe(state)
  const code = callback.searchParams.get('code') ?? ''
  return { code, redirect_uri: redirectUri, code_verifier: verifier }
}

/** The library throws the error of its HTTP client: the OAuth error is the payload. */
const refusal = (statusCode: number, error: string): object => ({
  isBoom: true,
  output: { statusCode },
  data: { payload: { error, error_description: expect.any(String) } },
})

const ways: readonly Options[] = [
  { authorizationMethod: 'header', credentialsEncodingMode: 'strict' },
  { authorizationMethod: 'header', credentialsEncodingMode: 'loose' },
  { authorizationMethod: 'body' },
]

describe('simple-oauth2', () => {
  test.each(ways)('client credentials with %o', async (options) => {
    const client = new library.ClientCredentials(config(web, options))
    const access = await client.getToken({ scope: ['api1', 'api2'] })
    expect(access.token).toMatchObject({ token_type: 'Bearer', scope: 'api1 api2', expires_in: 3600 })
    // It computes the expiry from `expires_in` on its own clock.
    expect([access.expired(), access.expired(3601)]).toEqual([false, true])
  })

  // `strict` form-encodes both halves of the pair (RFC 6749 section 2.3.1), `loose` sends them raw (the seed, section 5).
  test.each(ways)('authenticates with an id and a secret that need form-encoding, with %o', async (options) => {
    const client = new library.ClientCredentials(config(awkwardAscii, options))
    expect((await client.getToken({ scope: 'my-api' })).token).toHaveProperty('scope', 'my-api')
  })

  test('password', async () => {
    const client = new library.ResourceOwnerPassword(config(web))
    const form = { username: 'alice', password: 'alice-password', scope: 'openid offline_access' }
    const access = await client.getToken(form)
    expect(access.token).toMatchObject({ scope: 'openid offline_access', refresh_token: expect.any(String) })
    const wrong = client.getToken({ ...form, password: 'guess' })
    await expect(wrong).rejects.toMatchObject(refusal(400, 'invalid_grant'))
  })

  test('authorization code with PKCE', async () => {
    const client = codes(web)
    const params = await authorize(client, ['openid', 'offline_access', 'api1'])
    // As in its README, with `scope`, which the exchange of a code ignores.
    const access = await client.getToken({ ...params, scope: ['openid', 'offline_access', 'api1'] })
    expect(access.token).toMatchObject({
      scope: 'openid offline_access api1',
      id_token: expect.any(String),
      refresh_token: expect.any(String),
    })
  })

  // The library always sends `client_secret`: an empty one counts as omitted (RFC 6749 section 3.2), any other fails.
  test('a public client with an empty secret', async () => {
    const client = codes([spaClientId, ''], { authorizationMethod: 'body' })
    const first = await client.getToken(await authorize(client, ['openid', 'offline_access']))
    const next = await first.refresh()
    expect(next.token.refresh_token).toBeTypeOf('string')
    expect(next.token.refresh_token).not.toBe(first.token.refresh_token)
  })

  test('a public client with a secret is invalid_client', async () => {
    const client = codes([spaClientId, 'some'], { authorizationMethod: 'body' })
    const exchange = client.getToken(await authorize(client, ['openid']))
    await expect(exchange).rejects.toMatchObject(refusal(401, 'invalid_client'))
  })

  test('refreshes a persisted token with rotation, a narrower scope and a retry', async () => {
    const client = codes(web)
    const params = await authorize(client, ['openid', 'offline_access', 'api1'])
    const persisted = JSON.stringify(await client.getToken(params))
    const restored = client.createToken(JSON.parse(persisted))
    const next = await restored.refresh()
    expect(next.token.refresh_token).toBeTypeOf('string')
    expect(next.token.refresh_token).not.toBe(restored.token.refresh_token)

    const again = await restored.refresh()
    expect(again.token.access_token).toBe(next.token.access_token)
    expect(again.token.refresh_token).toBe(next.token.refresh_token)

    const narrowed = await next.refresh({ scope: ['openid'] })
    expect(narrowed.token).toHaveProperty('scope', 'openid')
  })

  test('a reused refresh token is invalid_grant, and its successor then is too', async () => {
    const client = codes(noRetry)
    const first = await client.getToken(await authorize(client, ['openid', 'offline_access']))
    const next = await first.refresh()
    await expect(first.refresh()).rejects.toMatchObject(refusal(400, 'invalid_grant'))
    await expect(next.refresh()).rejects.toMatchObject(refusal(400, 'invalid_grant'))
  })

  test('gets invalid_grant for a replayed code', async () => {
    const client = codes(web)
    const params = await authorize(client, ['openid'])
    await client.getToken(params)
    await expect(client.getToken(params)).rejects.toMatchObject(refusal(400, 'invalid_grant'))
  })

  test('a wrong verifier is invalid_grant and does not spend the code', async () => {
    const client = codes(web)
    const params = await authorize(client, ['openid'])
    const wrong = client.getToken({ ...params, code_verifier: randomBytes(32).toString('base64url') })
    await expect(wrong).rejects.toMatchObject(refusal(400, 'invalid_grant'))
    expect((await client.getToken(params)).token).toHaveProperty('id_token')
  })

  test.each(ways)('gets invalid_client with a challenge for a wrong secret, with %o', async (options) => {
    const client = new library.ClientCredentials(config([web[0], 'wrong'], options))
    const thrown: unknown = await client.getToken({ scope: 'api1' }).catch((error) => error)
    expect(thrown).toMatchObject(refusal(401, 'invalid_client'))
    const challenge = `Basic realm="${server.issuer}"`
    expect(thrown).toMatchObject({ data: { headers: { 'www-authenticate': challenge } } })
  })

  test('gets invalid_scope for an unknown scope', async () => {
    const client = new library.ClientCredentials(config(web))
    await expect(client.getToken({ scope: 'nothing' })).rejects.toMatchObject(refusal(400, 'invalid_scope'))
  })
})
