import type { ClientOptions } from '@grantry/core'
import { sha256Of } from '@grantry/testing'
import { type Fixture, fixture, web } from '../support/fixture.ts'

export const alice = {
  grant_type: 'password',
  username: 'alice',
  password: 'alice-password',
  scope: 'api1 offline_access',
}

/** The client `web` with these settings. */
export const clientWith = (refreshToken: ClientOptions['refreshToken']): ClientOptions => ({
  clientId: web[0],
  secrets: [{ sha256: sha256Of(web[1]) }],
  grantTypes: ['password', 'refresh_token'],
  scopes: ['api1', 'api2', 'offline_access'],
  accessTokenFormat: 'reference',
  refreshToken,
})

export const refresh = (f: Fixture, token: string, more: Record<string, string> = {}) =>
  f.post('token', { grant_type: 'refresh_token', refresh_token: token, ...more }, web)

/** A provider, and a refresh token of alice. */
export async function started(refreshToken: ClientOptions['refreshToken'] = {}) {
  const f = await fixture({ clients: [clientWith(refreshToken)] })
  return { f, token: (await f.post('token', alice, web)).body.refresh_token as string }
}
