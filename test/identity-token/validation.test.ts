import { describe, expect, test } from 'vitest'
import { type Fixture, fixture, proof, redirectUri, spaClientId, web } from '../support/fixture.ts'

const endpoint = 'https://id.example.com/connect/identitytokenvalidation'

async function identityToken(f: Fixture): Promise<string> {
  const code = await f.code({ nonce: 'n-0S6_WzA2Mj' })
  const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri }
  return (await f.post('token', form, web)).body.id_token
}

const claimsAt = (now: number) => ({
  iss: 'https://id.example.com',
  sub: '1',
  aud: 'web',
  exp: String(now + 300),
  iat: String(now),
  nbf: String(now),
  nonce: 'n-0S6_WzA2Mj',
  auth_time: String(now),
  idp: 'local',
  amr: 'pwd',
  at_hash: expect.stringMatching(/^[\w-]{22}$/u),
  txn: expect.stringMatching(/^[\w-]{22}$/u),
})

describe('a valid identity token', () => {
  test('4.1 POST reads token and client_id from the form', async () => {
    const f = await fixture()
    const response = await f.post('identityTokenValidation', { token: await identityToken(f), client_id: 'web' })
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(response.body).toEqual(claimsAt(f.clock.now()))
  })

  test('4.1 GET reads token and client_id from the query', async () => {
    const f = await fixture()
    const response = await f.get('identityTokenValidation', { token: await identityToken(f), client_id: 'web' })
    expect(response.status).toBe(200)
    expect(response.headers.get('pragma')).toBe('no-cache')
    expect(response.body).toEqual(claimsAt(f.clock.now()))
  })

  test('4.1 HEAD returns the status of GET without a body', async () => {
    const f = await fixture()
    const head = async (token: string) => {
      const query = new URLSearchParams({ token, client_id: 'web' })
      return f.provider.fetch(new Request(`${endpoint}?${query}`, { method: 'HEAD' }))
    }
    const accepted = await head(await identityToken(f))
    expect([accepted.status, await accepted.text()]).toEqual([200, ''])
    expect(accepted.headers.get('content-type')).toBe('application/json')
    const refused = await head('x')
    expect([refused.status, await refused.text()]).toEqual([400, ''])
  })

  test('4.1 another method is 405, and Allow lists the methods', async () => {
    const f = await fixture()
    const response = await f.provider.fetch(new Request(endpoint, { method: 'PUT', body: 'x' }))
    expect(response.status).toBe(405)
    expect(response.headers.get('allow')?.split(', ').sort()).toEqual(['GET', 'HEAD', 'OPTIONS', 'POST'])
    expect(await response.json()).toMatchObject({ error: 'invalid_request' })
  })

  test('4.1 needs no client authentication and ignores an Authorization header', async () => {
    const f = await fixture()
    const form = { token: await identityToken(f), client_id: 'web' }
    const response = await f.post('identityTokenValidation', form, ['absent', 'nothing'])
    expect(response.status).toBe(200)
    expect(response.body).toEqual(claimsAt(f.clock.now()))
  })

  test('4.1 validates the same token any number of times', async () => {
    const f = await fixture()
    const form = { token: await identityToken(f), client_id: 'web' }
    const first = await f.post('identityTokenValidation', form)
    const second = await f.post('identityTokenValidation', form)
    expect(first.status).toBe(200)
    expect(second.body).toEqual(first.body)
  })
})

describe('parameters', () => {
  const post = async (f: Fixture, query: Record<string, string>, form: Record<string, string>) =>
    f.provider.fetch(
      new Request(`${endpoint}?${new URLSearchParams(query)}`, { method: 'POST', body: new URLSearchParams(form) }),
    )

  test('4.2 does not fill up a form from the query', async () => {
    const f = await fixture()
    const token = await identityToken(f)
    const both: readonly (readonly [Record<string, string>, Record<string, string>])[] = [
      [{ token }, { client_id: 'web' }],
      [{ client_id: 'web' }, { token }],
      [{ token, client_id: 'web' }, {}],
    ]
    for (const [query, form] of both) {
      const response = await post(f, query, form)
      expect(response.status).toBe(400)
      expect(await response.json()).toMatchObject({ error: 'invalid_request' })
    }
  })

  test('4.2 ignores a query beside a complete form', async () => {
    const f = await fixture()
    const token = await identityToken(f)
    const accepted = await post(f, { token: 'x', client_id: 'other' }, { token, client_id: 'web' })
    expect(accepted.status).toBe(200)
    const refused = await post(f, { token, client_id: 'web' }, { token: 'x', client_id: 'web' })
    expect(refused.status).toBe(400)
    expect(await refused.json()).toMatchObject({ error: 'invalid_token' })
  })

  test.each([
    ['token', { client_id: 'web' }],
    ['client_id', { token: 'a.b.c' }],
    ['token', { token: '', client_id: 'web' }],
    ['client_id', { token: 'a.b.c', client_id: '' }],
  ] as readonly (readonly [string, Record<string, string>])[])(
    '4.3 a missing or empty %s is invalid_request (%j)',
    async (name, parameters) => {
      const f = await fixture()
      for (const response of [
        await f.post('identityTokenValidation', parameters),
        await f.get('identityTokenValidation', parameters),
      ]) {
        expect(response.status).toBe(400)
        expect(response.body).toEqual({
          error: 'invalid_request',
          error_description: `The parameter ${name} is required`,
        })
        expect(response.headers.get('cache-control')).toBe('no-store')
      }
      expect(f.events.at(-1)).toMatchObject({ type: 'endpoint_failed', reason: 'parameter_missing' })
    },
  )
})

describe('CORS', () => {
  async function validateFrom(f: Fixture, origin: string): Promise<Response> {
    const query = new URLSearchParams({ token: await identityToken(f), client_id: 'web' })
    return f.provider.fetch(new Request(`${endpoint}?${query}`, { headers: { origin } }))
  }

  test('4.17 a page of an origin of the client may read the response', async () => {
    const response = await validateFrom(await fixture(), 'https://web.example.com')
    expect(response.status).toBe(200)
    expect(response.headers.get('access-control-allow-origin')).toBe('https://web.example.com')
    expect(response.headers.get('vary')).toBe('Origin')
    expect(response.headers.has('access-control-allow-credentials')).toBe(false)
  })

  test.each([
    ['of another client', 'https://spa.example.com'],
    ['of no client', 'https://evil.example.com'],
    ['null', 'null'],
  ])('4.17 a page of an origin that is %s may not read the response', async (_, origin) => {
    const response = await validateFrom(await fixture(), origin)
    expect(response.status).toBe(200)
    expect(response.headers.has('access-control-allow-origin')).toBe(false)
    expect(response.headers.get('vary')).toBe('Origin')
  })

  test('4.17 responds to the preflight of an allowed origin', async () => {
    const f = await fixture()
    const headers = { origin: 'https://spa.example.com', 'access-control-request-method': 'POST' }
    const response = await f.provider.fetch(new Request(endpoint, { method: 'OPTIONS', headers }))
    expect(response.status).toBe(204)
    expect(response.headers.get('access-control-allow-origin')).toBe('https://spa.example.com')
    expect(response.headers.get('access-control-allow-methods')).toContain('POST')
  })
})

test('4.8 a public client validates its own identity tokens too', async () => {
  const f = await fixture()
  const code = await f.code({ clientId: spaClientId, codeChallenge: proof.challenge })
  const issued = await f.post('token', {
    grant_type: 'authorization_code',
    code,
    redirect_uri: redirectUri,
    client_id: spaClientId,
    code_verifier: proof.verifier,
  })
  const response = await f.post('identityTokenValidation', { token: issued.body.id_token, client_id: spaClientId })
  expect(response.status).toBe(200)
  expect(response.body).toMatchObject({ aud: spaClientId, sub: '1' })
})
