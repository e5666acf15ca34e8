import { describe, expect, test } from 'vitest'
import { answer, createBrowser } from '../authorization/browser.ts'
import { holder, tokenUrl } from '../dpop/parties.ts'
import { parUrl } from '../pushed-authorization/parties.ts'
import { proof as pkce } from '../support/fixture.ts'
import { client, redirectUri, request, start } from './parties.ts'

const pushed = {
  redirect_uri: redirectUri,
  response_type: 'code',
  scope: 'openid offline_access',
  state: 'state',
  code_challenge: pkce.challenge,
  code_challenge_method: 'S256',
}
const front = `https://id.example.com/connect/authorize?client_id=${client.clientId}`

describe('a client with the profile', () => {
  test('gets a code for a pushed request, and tokens that are bound to its key', async () => {
    const [f, { prove }] = [await start([client]), await holder()]
    const { status, body } = await request(f, pushed, { url: parUrl, proof: await prove({ htu: parUrl }) })
    expect(status).toBe(201)
    const { open } = createBrowser(f.provider)
    const { code = '', iss } = answer(await open(`${front}&request_uri=${body.request_uri}`))
    expect(iss).toBe('https://id.example.com')
    const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: pkce.verifier }
    const tokens = await request(f, form, { proof: await prove() })
    expect(tokens).toMatchObject({ status: 200, body: { token_type: 'DPoP', refresh_token: expect.any(String) } })
  })

  test('can push a request without a key', async () => {
    const f = await start([client])
    const { status } = await request(f, pushed, { url: parUrl })
    expect(status).toBe(201)
  })

  test('gets no code for a request that it has not pushed', async () => {
    const { open } = createBrowser((await start([client])).provider)
    const response = answer(await open(`${front}&${new URLSearchParams(pushed)}`))
    expect(response).toMatchObject({ error: 'invalid_request', state: 'state' })
  })

  test.each([
    [{ code_challenge: '', code_challenge_method: '' }, 'invalid_request'],
    [{ code_challenge_method: 'plain' }, 'invalid_request'],
    [{ redirect_uri: '' }, 'invalid_request'],
    [{ response_type: 'code id_token' }, 'unsupported_response_type'],
  ])('cannot push a request with %j', async (change, error) => {
    const form = Object.entries({ ...pushed, ...change }).filter(([, value]) => value !== '')
    const { status, body } = await request(await start([client]), Object.fromEntries(form), { url: parUrl })
    expect([status, body.error]).toEqual([400, error])
  })

  test.each([parUrl, tokenUrl, ['https://id.example.com']])('cannot push with an assertion for %s', async (aud) => {
    const { status, body } = await request(await start([client]), pushed, { url: parUrl, aud })
    expect([status, body.error]).toEqual([401, 'invalid_client'])
  })
})
