import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Credentials, sha256Of } from '@grantry/testing'
import { credentialsOf, passwordHash, users } from '../sign-in/setting.ts'

export const issuer = 'https://id.example.com'
export const redirectUri = 'https://shop.example.com/callback'
export const scope = 'openid offline_access api1'

/** Its refresh tokens cannot be retried. */
export const strict: Credentials = ['strict', 'strict-secret']
/** Its refresh tokens can be retried for the duration of a race, and its access tokens are JWTs. */
export const retried: Credentials = ['retried', 'retried-secret']
export const api: Credentials = ['api1', 'api1-secret']

const client = ([clientId, secret]: Credentials, more: object) => ({
  clientId,
  secrets: [{ sha256: sha256Of(secret) }],
  grantTypes: ['authorization_code', 'refresh_token', 'client_credentials'],
  scopes: scope.split(' '),
  redirectUris: [redirectUri],
  ...more,
})

/** Writes a configuration that both versions can read. Returns its path. */
export function writeSetting(directory: string, version: string, storage: object): string {
  const file = join(directory, `${version}.config.json`)
  const password = passwordHash()
  const configuration = {
    issuer,
    storage,
    keys: { encryptionSecret: 'a-secret-of-thirty-two-characters' },
    // So that commands change clients in the storage.
    administration: true,
    clients: [
      client(strict, { accessTokenFormat: 'reference', refreshToken: { retryWindow: 0 } }),
      client(retried, { accessTokenFormat: 'jwt', refreshToken: { retryWindow: 300 } }),
    ],
    scopes: [{ name: 'api1', audience: 'https://api1.example.com', secrets: [{ sha256: sha256Of(api[1]) }] }],
    users: Array.from({ length: users }, (_, user) => ({
      sub: String(user),
      username: credentialsOf(user)[0],
      password,
    })),
    plugins: [{ name: 'sign-in' }],
    // So that one machine can act as many.
    trustedProxies: 1,
    abuseControl: { waitingRequests: { perAddress: 1_000_000, total: 1_000_000 } },
  }
  writeFileSync(file, JSON.stringify(configuration))
  return file
}
