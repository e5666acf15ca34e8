/**
 * Attack: a request contains a parameter twice, in two places, or under a name that only some parsers read alike, so
 * that a proxy or log sees one value and the provider uses another.
 *
 * RFC 6749 section 3.2: parameters MUST NOT be included more than once, unknown ones MUST be ignored, an empty value
 * counts as omitted; section 2.3: one method of client authentication only; RFC 6750 section 2: one way to send a token
 * only.
 */

import { basic, read } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { api1, type Fixture, fixture, redirectUri, web } from '../support/fixture.ts'

const base = 'https://id.example.com'
const formType = 'application/x-www-form-urlencoded'
const post = async (f: Fixture, path: string, body: string, headers: Record<string, string> = {}) =>
  read(
    await f.provider.fetch(
      new Request(base + path, { method: 'POST', headers: { 'content-type': formType, ...headers }, body }),
    ),
  )
const asWeb = { authorization: basic(web) }
const codeForm = (code: string) =>
  `grant_type=authorization_code&code=${code}&redirect_uri=${encodeURIComponent(redirectUri)}`

describe('a repeated parameter', () => {
  test.each([
    'grant_type=authorization_code',
    'grant_type=client_credentials',
    'grant%5Ftype=client_credentials',
    'grant%5ftype=authorization_code',
    '%67rant_type=password',
    'code=x',
    'code=',
    'code',
    'redirect_uri=https%3A%2F%2Fevil.example',
    'x=1&x=1',
    'x=1&%78=2',
    '__proto__=1&__proto__=2',
    '=1&=2',
    'scope=api1&scope=api2',
  ])('%s beside the valid ones is rejected, and the code is not spent', async (extra) => {
    const f = await fixture()
    const code = await f.code()
    for (const body of [`${codeForm(code)}&${extra}`, `${extra}&${codeForm(code)}`]) {
      expect(await post(f, '/connect/token', body, asWeb)).toMatchObject({
        status: 400,
        body: { error: 'invalid_request', error_description: 'A parameter is repeated' },
      })
    }
    expect((await post(f, '/connect/token', codeForm(code), asWeb)).status).toBe(200)
  })

  test.each([
    'client_id=web&client_id=web',
    'client_id=web&client%5Fid=other',
    'client_id=web&client_secret=a&client_secret=web-secret',
  ])('%s is rejected before client authentication', async (credentials) => {
    const f = await fixture()
    const response = await post(f, '/connect/token', `grant_type=client_credentials&scope=api1&${credentials}`)
    expect(response).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
    expect(f.events.map(({ type }) => type)).not.toContain('client_authentication_succeeded')
  })

  test.each(['introspect', 'accesstokenvalidation', 'identitytokenvalidation', 'userinfo'])(
    'is rejected at %s too',
    async (path) => {
      const f = await fixture()
      const headers = path === 'introspect' ? { authorization: basic(api1) } : {}
      const form = 'token=a&token=b&access_token=a&access_token=b&client_id=web'
      expect(await post(f, `/connect/${path}`, form, headers)).toMatchObject({
        status: 400,
        body: { error: 'invalid_request' },
      })
    },
  )

  test.each(['accesstokenvalidation', 'identitytokenvalidation'])('is rejected in the query of %s', async (path) => {
    const f = await fixture()
    const response = await read(
      await f.provider.fetch(new Request(`${base}/connect/${path}?token=a&client_id=web&tok%65n=b`)),
    )
    expect(response).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
  })
})

describe('the query of a POST', () => {
  test('does not fill up the form', async () => {
    const f = await fixture()
    const query = '?grant_type=client_credentials&scope=api1&client_id=web&client_secret=web-secret'
    expect((await post(f, `/connect/token${query}`, '')).status).toBe(401)
    expect(await post(f, `/connect/token${query}`, '', asWeb)).toMatchObject({
      status: 400,
      body: { error: 'invalid_request', error_description: 'The parameter grant_type is required' },
    })
  })

  test('does not override the form', async () => {
    const f = await fixture()
    const response = await post(
      f,
      '/connect/token?scope=api2&grant_type=password',
      'grant_type=client_credentials&scope=api1',
      asWeb,
    )
    expect(response).toMatchObject({ status: 200, body: { scope: 'api1' } })
  })

  test.each(['/connect/introspect', '/connect/accesstokenvalidation', '/connect/identitytokenvalidation'])(
    'passes no token to %s',
    async (path) => {
      const f = await fixture()
      const headers = { authorization: basic(api1) }
      expect(await post(f, `${path}?token=x&client_id=web`, '', headers)).toMatchObject({
        status: 400,
        body: { error: 'invalid_request' },
      })
    },
  )

  test('passes no token to userinfo, and neither does that of a GET', async () => {
    const f = await fixture()
    const form = { grant_type: 'password', username: 'alice', password: 'alice-password', scope: 'openid' }
    const { access_token } = (await f.post('token', form, web)).body
    const query = `/connect/userinfo?access_token=${access_token}`
    expect((await post(f, query, '')).status).toBe(401)
    expect((await read(await f.provider.fetch(new Request(base + query)))).status).toBe(401)
    expect((await post(f, '/connect/userinfo', `access_token=${access_token}`)).status).toBe(200)
  })
})

describe('two kinds of credentials', () => {
  test.each(['client_secret=web-secret', 'client_id=web&client_secret=web-secret', 'client_id=other', 'client_id=spa'])(
    '%s beside the Basic header is rejected',
    async (credentials) => {
      const f = await fixture()
      const response = await post(f, '/connect/token', `grant_type=client_credentials&scope=api1&${credentials}`, asWeb)
      expect(response).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
    },
  )

  test('accepts the same client_id beside the Basic header', async () => {
    const f = await fixture()
    const form = 'grant_type=client_credentials&scope=api1&client_id=web&client_secret='
    expect((await post(f, '/connect/token', form, asWeb)).status).toBe(200)
  })

  test('rejects a token in both the header and the form', async () => {
    const f = await fixture()
    const response = await post(f, '/connect/userinfo', 'access_token=x', { authorization: 'Bearer y' })
    expect(response).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
  })
})

describe('names that only look alike', () => {
  test.each([
    'grant_type[]=client_credentials',
    'grant_type%5B%5D=client_credentials',
    'grant_type[0]=client_credentials',
    'Grant_Type=client_credentials',
    'GRANT_TYPE=client_credentials',
    'grant_type%00=client_credentials',
    'grant_type+=client_credentials',
    '+grant_type=client_credentials',
    '\ufeffgrant_type=client_credentials',
    'grant-type=client_credentials',
    'grantType=client_credentials',
    'grant_type;x=client_credentials',
    '%67%72ant%255Ftype=client_credentials',
  ])('%s is not a grant type', async (form) => {
    const f = await fixture()
    const response = await post(f, '/connect/token', `${form}&scope=api1`, asWeb)
    expect(response).toMatchObject({
      status: 400,
      body: { error: 'invalid_request', error_description: 'The parameter grant_type is required' },
    })
  })

  test.each([
    '__proto__=x',
    'constructor=x',
    '__proto__[grant_type]=x',
    'toString=x',
    'hasOwnProperty=x',
    'scope[]=api2',
    'Scope=api2',
    '',
  ])('%s is ignored', async (extra) => {
    const f = await fixture()
    const response = await post(f, '/connect/token', `grant_type=client_credentials&&scope=api1&${extra}`, asWeb)
    expect(response).toMatchObject({ status: 200, body: { scope: 'api1' } })
  })

  test('a semicolon is not a separator', async () => {
    const f = await fixture()
    const response = await post(f, '/connect/token', 'grant_type=client_credentials;scope=api1', asWeb)
    expect(response.body.error).toBe('unsupported_grant_type')
  })
})
