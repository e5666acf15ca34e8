import type { AtomicDriver, Grant } from '@grantry/core'
import { authorizationCode } from '@grantry/plugins/authorization-code'
import { proofKey } from '@grantry/plugins/proof-key'
import { refreshToken } from '@grantry/plugins/refresh-token'
import { mapDriver, sha256Of } from '@grantry/testing'
import { type Fixture, fixture, redirectUri, web } from '../support/fixture.ts'

export const grantType = 'urn:example:badge'

/** A provider with the grant, those of codes and refresh tokens, and two clients that may use all of them. */
export const start = (
  grant: Grant,
  { storage = mapDriver(), usage = 'rotate' }: { storage?: AtomicDriver; usage?: 'rotate' | 'reuse' } = {},
) =>
  fixture({
    storage,
    plugins: [grant, authorizationCode(), proofKey(), refreshToken()],
    clients: ['web', 'mobile'].map((clientId) => ({
      clientId,
      secrets: [{ sha256: sha256Of(web[1]) }],
      grantTypes: [grantType, 'authorization_code', 'refresh_token'],
      scopes: ['openid', 'profile', 'offline_access', 'api1'],
      redirectUris: [redirectUri],
      accessTokenFormat: 'reference',
      refreshToken: { usage },
    })),
  })

/** Requests all scopes with the grant. */
export const present = (f: Fixture, more: Record<string, string>) =>
  f.post('token', { grant_type: grantType, scope: 'openid profile offline_access api1', ...more }, web)
