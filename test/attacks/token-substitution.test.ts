/**
 * Attack: a token of one kind is presented where another is expected: an identity token (which any relying party holds)
 * as an access token, an access token as proof of a login, a refresh token or code as a bearer token, a token of one
 * client or user as that of another.
 *
 * RFC 9068 section 4 (`typ: at+jwt`), RFC 8725 section 3.11 and 3.12 (kinds of JWT must not be confused), RFC 7662
 * section 2.2 (`active: false` and nothing else), OpenID Connect Core section 3.1.3.7 (audience). That introspection
 * accepts access tokens only is hardening.
 */
import { beforeAll, describe, expect, test } from 'vitest'
import { api1, type Fixture, fixture, otherClient, redirectUri, web, webJwt } from '../support/fixture.ts'

let f: Fixture
const tokens: Record<string, string> = {}

const redeem = async (as: typeof web) => {
  const code = await f.code({ clientId: as[0] })
  return (await f.post('token', { grant_type: 'authorization_code', code, redirect_uri: redirectUri }, as)).body
}

beforeAll(async () => {
  f = await fixture()
  const reference = await redeem(web)
  const jwt = await redeem(webJwt)
  Object.assign(tokens, {
    'identity token': reference.id_token,
    'refresh token': reference.refresh_token,
    'reference access token': reference.access_token,
    'JWT access token': jwt.access_token,
    'identity token of web-jwt': jwt.id_token,
    code: await f.code(),
  })
})

const token = (kind: string): string => tokens[kind] ?? ''
const bearer = (kind: string) => f.get('userinfo', {}, { authorization: `Bearer ${token(kind)}` })
const introspect = (kind: string, hint?: string) =>
  f.post('introspection', { token: token(kind), ...(hint !== undefined && { token_type_hint: hint }) }, api1)
const validateAccess = (kind: string) => f.post('accessTokenValidation', { token: token(kind) })
const validateIdentity = (kind: string, client_id: string) =>
  f.post('identityTokenValidation', { token: token(kind), client_id })

describe.each(['reference access token', 'JWT access token'])('a %s', (kind) => {
  test('is accepted as an access token', async () => {
    expect((await bearer(kind)).status).toBe(200)
    expect((await introspect(kind)).body.active).toBe(true)
    expect((await validateAccess(kind)).status).toBe(200)
  })

  test.each([web[0], webJwt[0], api1[0], 'https://api1.example.com'])(
    'is not an identity token for %s',
    async (clientId) => {
      const { status, body } = await validateIdentity(kind, clientId)
      expect(status).toBe(400)
      expect(body).toEqual({ error: 'invalid_token', error_description: 'The identity token is not valid' })
    },
  )
})

describe.each(['identity token', 'refresh token', 'code'])('a %s', (kind) => {
  test('is rejected by userinfo', async () => {
    const { status, headers } = await bearer(kind)
    expect(status).toBe(401)
    expect(headers.get('www-authenticate')).toContain('error="invalid_token"')
  })

  test.each([undefined, 'access_token', 'refresh_token', 'id_token'])('is inactive, with the hint %s', async (hint) => {
    expect(await introspect(kind, hint)).toMatchObject({ status: 200, body: { active: false } })
    expect(Object.keys((await introspect(kind, hint)).body)).toEqual(['active'])
  })

  test('is rejected by access token validation', async () => {
    const { status, body } = await validateAccess(kind)
    expect(status).toBe(400)
    expect(body).toEqual({ error: 'invalid_token', error_description: 'The access token is not valid' })
  })
})

test.each(['refresh token', 'code'])('a %s is not an identity token', async (kind) => {
  expect(await validateIdentity(kind, web[0])).toMatchObject({ status: 400, body: { error: 'invalid_token' } })
})

test('an identity token is valid for its own client only', async () => {
  expect((await validateIdentity('identity token', web[0])).status).toBe(200)
  for (const clientId of [webJwt[0], otherClient[0], 'unknown', '', 'https://id.example.com']) {
    expect((await validateIdentity('identity token', clientId)).status).toBe(400)
  }
})

test.each(['identity token', 'reference access token', 'JWT access token', 'code'])(
  'a %s is not a refresh token',
  async (kind) => {
    for (const as of [web, webJwt]) {
      const { status, body } = await f.post('token', { grant_type: 'refresh_token', refresh_token: token(kind) }, as)
      expect(status).toBe(400)
      expect(['invalid_grant', 'invalid_request']).toContain(body.error)
    }
  },
)

test.each(['identity token', 'reference access token', 'JWT access token', 'refresh token'])(
  'a %s is not a code',
  async (kind) => {
    for (const as of [web, webJwt]) {
      const form = { grant_type: 'authorization_code', code: token(kind), redirect_uri: redirectUri }
      const { status, body } = await f.post('token', form, as)
      expect(status).toBe(400)
      expect(['invalid_grant', 'invalid_request']).toContain(body.error)
    }
  },
)

test('the refresh token of one client is rejected for another, and not spent', async () => {
  const { refresh_token } = await redeem(web)
  const theft = await f.post('token', { grant_type: 'refresh_token', refresh_token }, otherClient)
  expect(theft).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
  expect((await f.post('token', { grant_type: 'refresh_token', refresh_token }, web)).status).toBe(200)
})

test('userinfo rejects a client-only token, whatever the client is called', async () => {
  const { body } = await f.post('token', { grant_type: 'client_credentials', scope: 'api1' }, web)
  const { status, headers } = await f.get('userinfo', {}, { authorization: `Bearer ${body.access_token}` })
  expect(status).toBe(403)
  expect(headers.get('www-authenticate')).toContain('error="insufficient_scope"')
})

test('credentials of clients are not credentials of scopes, and vice versa', async () => {
  expect((await f.post('introspection', { token: token('reference access token') }, web)).status).toBe(401)
  expect((await f.post('token', { grant_type: 'client_credentials', scope: 'api1' }, api1)).status).toBe(401)
})
