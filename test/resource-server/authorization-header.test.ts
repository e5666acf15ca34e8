import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { createResourceServer } from '../../packages/resource-server/src/index.ts'
import { fixture, web } from '../support/fixture.ts'

// The provider and APIs read an `Authorization` header in the same way. The provider must not import the package for
// APIs, which imports only `jose`; so both have the file, and this test keeps the copies equal.

const copies = [
  'packages/core/src/http/authorization-header.ts',
  'packages/resource-server/src/authorization-header.ts',
]

test('the provider and the package for APIs have the same parser', () => {
  const [ofProvider, ofPackage] = copies.map((path) => readFileSync(path, 'utf8'))
  expect(ofPackage).toBe(ofProvider)
})

/** The status of userinfo and of an API for the header of a valid token. */
async function statusesFor(write: (token: string) => string): Promise<readonly number[]> {
  const f = await fixture()
  const form = { grant_type: 'authorization_code', redirect_uri: 'https://web.example.com/callback' }
  const { body } = await f.post('token', { ...form, code: await f.code() }, ['web', web[1]])
  const headers = { authorization: write(body.access_token) }
  const api = createResourceServer({
    issuer: f.provider.issuer,
    audience: 'https://api1.example.com',
    now: f.clock.now,
    introspection: { clientId: 'api1', clientSecret: 'api1-secret' },
    fetch: (url, init) => f.provider.fetch(new Request(url, init)),
  })
  const { response } = await api.authorize(new Request('https://api1.example.com/', { headers }))
  return [(await f.get('userinfo', {}, headers)).status, response?.status ?? 200]
}

describe('a token in the Authorization header', () => {
  // RFC 9110 section 11.4: `auth-scheme 1*SP token68`.
  test.each<[string, (token: string) => string, readonly number[]]>([
    ['after one space', (token) => `Bearer ${token}`, [200, 200]],
    ['after two spaces', (token) => `Bearer  ${token}`, [200, 200]],
    ['after many spaces', (token) => `Bearer${' '.repeat(50)}${token}`, [200, 200]],
    ['after another case of the scheme', (token) => `bEARER ${token}`, [200, 200]],
    ['before white space', (token) => `Bearer ${token}  `, [200, 200]],
    ['after a tab', (token) => `Bearer\t${token}`, [401, 400]],
    ['after a space and a tab', (token) => `Bearer \t${token}`, [401, 400]],
    ['without a space', (token) => `Bearer${token}`, [401, 401]],
    ['without a scheme', (token) => token, [401, 401]],
    ['with another one', (token) => `Bearer ${token} ${token}`, [401, 400]],
    ['with a parameter', (token) => `Bearer token="${token}"`, [401, 400]],
    ['after a comma', (token) => `Bearer,${token}`, [401, 400]],
    ['with another scheme', (token) => `Token ${token}`, [401, 401]],
  ])('%s', async (_, write, statuses) => {
    expect(await statusesFor(write)).toEqual(statuses)
  })
})

describe('a secret in the Authorization header', () => {
  const pair = btoa(web.join(':'))
  test.each([
    [`Basic ${pair}`, 200],
    [`Basic  ${pair}`, 200],
    [`basic     ${pair}`, 200],
    [`Basic\t${pair}`, 401],
    [`Basic${pair}`, 401],
    [`Basic ${pair} x`, 401],
    [`Basic ,${pair}`, 401],
  ])('%j is %i', async (authorization, status) => {
    const f = await fixture()
    const body = new URLSearchParams({ grant_type: 'client_credentials', scope: 'api1' })
    const request = new Request('https://id.example.com/', { method: 'POST', body, headers: { authorization } })
    expect((await f.provider.handlers.token(request)).status).toBe(status)
  })
})
