import { read, sha256Of } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { builtInPlugins, type Fixture, fixture, proof, redirectUri, scopes, web } from '../support/fixture.ts'
import { authorizationEndpoint, dynamicRegistration } from './sketches.ts'

const start = () =>
  fixture({
    plugins: [builtInPlugins, authorizationEndpoint('https://login.example.com/'), dynamicRegistration()],
    clients: [
      {
        clientId: web[0],
        secrets: [{ sha256: sha256Of(web[1]) }],
        grantTypes: ['authorization_code', 'client_credentials'],
        scopes: ['openid', 'api1', 'register'],
        redirectUris: [redirectUri],
      },
    ],
    scopes: [...scopes, { name: 'register' }],
  })

const request = {
  client_id: web[0],
  redirect_uri: redirectUri,
  scope: 'openid api1',
  state: 's',
  nonce: 'n',
  code_challenge: proof.challenge,
  code_challenge_method: 'S256',
}

/** Authorizes and logs in as a browser does. Returns the parameters of the redirect to the client. */
async function logIn({ provider }: Fixture, query: Readonly<Record<string, string>>) {
  const url = `${provider.issuer}/connect/authorize?${new URLSearchParams(query)}`
  const redirect = await provider.fetch(new Request(url))
  const cookie = redirect.headers.get('set-cookie')?.split(';')[0] ?? ''
  const form = new URLSearchParams({ username: 'alice', password: 'alice-password' })
  const response = await provider.fetch(
    new Request(`${provider.issuer}/connect/login`, { method: 'POST', body: form, headers: { cookie } }),
  )
  return Object.fromEntries(new URL(response.headers.get('location') ?? '').searchParams)
}

const redeem = (f: Fixture, code: string, as = web) =>
  f.post(
    'token',
    { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: proof.verifier },
    as,
  )

describe('the contract can express', () => {
  test('an authorization endpoint', async () => {
    const f = await start()
    const { code = '', iss, state } = await logIn(f, request)
    expect([iss, state]).toEqual([f.provider.issuer, 's'])
    expect((await redeem(f, code)).status).toBe(200)
    expect(f.provider.metadata.authorization_endpoint).toBe('https://id.example.com/connect/authorize')
  })

  test('pushed authorization requests', async () => {
    const f = await start()
    const pushed = await f.post('pushedAuthorization', request, web)
    expect([pushed.status, pushed.body.expires_in]).toEqual([201, 60])
    const { code = '' } = await logIn(f, { client_id: web[0], request_uri: pushed.body.request_uri })
    expect((await redeem(f, code)).status).toBe(200)
    const another = await f.get('authorization', { client_id: 'other', request_uri: pushed.body.request_uri })
    expect([another.status, another.body.error]).toEqual([400, 'invalid_request'])
  })

  test('dynamic registration, whose clients can log users in', async () => {
    const f = await start()
    const { body } = await f.post('token', { grant_type: 'client_credentials', scope: 'register' }, web)
    const response = await f.provider.fetch(
      new Request(`${f.provider.issuer}/connect/register`, {
        method: 'POST',
        headers: { authorization: `Bearer ${body.access_token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ redirect_uris: [redirectUri] }),
      }),
    )
    const { status, body: client } = await read(response)
    expect(status).toBe(201)
    const { code = '' } = await logIn(f, { ...request, client_id: client.client_id })
    const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: proof.verifier }
    expect((await f.post('token', { ...form, client_id: client.client_id })).status).toBe(200)
  })
})
