import type { Credentials, TestResponse } from '@grantry/testing'
import { expect } from 'vitest'
import { api1, type Fixture, web } from './fixture.ts'

/** Tokens of alice by the password grant, including a refresh token. */
export async function issueTokens(
  f: Fixture,
  as: Credentials = web,
): Promise<{ readonly access_token: string; readonly refresh_token: string }> {
  const form = { grant_type: 'password', username: 'alice', password: 'alice-password' }
  const { status, body } = await f.post('token', { ...form, scope: 'openid profile offline_access api1' }, as)
  expect(status).toBe(200)
  return body
}

export const refresh = (f: Fixture, token: string, as: Credentials = web): Promise<TestResponse> =>
  f.post('token', { grant_type: 'refresh_token', refresh_token: token }, as)

/** The result of each endpoint that validates an access token: true, false, or a status that is neither. */
export async function judged(f: Fixture, token: string): Promise<Readonly<Record<string, boolean | number>>> {
  const introspected = await f.post('introspection', { token }, api1)
  const validated = await f.post('accessTokenValidation', { token })
  const userinfo = await f.get('userinfo', {}, { authorization: `Bearer ${token}` })
  const verdict = ({ status }: TestResponse, refused: number) =>
    status === 200 ? true : status === refused ? false : status
  return {
    introspection: introspected.status === 200 ? introspected.body.active : introspected.status,
    accessTokenValidation: verdict(validated, 400),
    userinfo: verdict(userinfo, 401),
  }
}

export const live = { introspection: true, accessTokenValidation: true, userinfo: true }
export const dead = { introspection: false, accessTokenValidation: false, userinfo: false }

/** The two formats of access tokens, each with a client that gets it. */
export const formats = [
  ['reference', ['web', 'web-secret']],
  ['JWT', ['web-jwt', 'web-jwt-secret']],
] as const

/** The response to a revocation: empty, and not cacheable. */
export function expectRevoked({ status, headers, body }: TestResponse): void {
  expect(status).toBe(200)
  expect(body).toBeUndefined()
  expect(headers.get('cache-control')).toBe('no-store')
  expect(headers.get('pragma')).toBe('no-cache')
}
