import { createHash, generateKeyPairSync, scryptSync } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Credentials } from '@grantry/testing'

/** Confidential, with reference tokens, and the same with JWTs. */
export const settingClients: readonly [Credentials, Credentials] = [
  ['reference', 'reference-secret'],
  ['jwt', 'jwt-secret'],
]
/** May introspect. */
export const api: Credentials = ['api1', 'api1-secret']
export const scope = 'openid offline_access api1'
/** The same refresh token with this is another request, and therefore a replay even inside the window. */
export const narrowerScope = 'openid offline_access'

const password = 'a password'

/** One user for each client: logins of one user would wait for each other. */
export const loginOf = (user: number) => ({ grant_type: 'password', username: `user-${user}`, password, scope })

/** Cheap: the password hash is not under test. */
function passwordHash(): string {
  const salt = Buffer.from('salt of a test..')
  const unpadded = (bytes: Buffer): string => bytes.toString('base64').replaceAll('=', '')
  return `$scrypt$ln=10,r=8,p=1$${unpadded(salt)}$${unpadded(scryptSync(password, salt, 32, { N: 1024, r: 8, p: 1 }))}`
}

const sha256Of = (secret: string): string => createHash('sha256').update(secret).digest('base64')

/**
 * Writes a configuration of the server with keys that stay the same at every start.
 *
 * @param retryWindow seconds in which a refresh request may be retried
 * @returns its path
 */
export function writeSetting(
  directory: string,
  issuer: string,
  storage: object,
  users: number,
  retryWindow = 10,
): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const keys = [{ ...privateKey.export({ format: 'jwk' }), alg: 'ES256' }]
  writeFileSync(join(directory, 'jwks.json'), JSON.stringify({ keys }), { mode: 0o600 })
  const hash = passwordHash()
  const file = join(directory, 'grantry.config.json')
  const configuration = {
    issuer,
    storage,
    // A busy machine is no outage. A storage that hangs is noticed by its driver.
    storageTimeLimit: 60,
    hostTimeLimit: 60,
    keys: { jwks: 'jwks.json' },
    clients: settingClients.map(([clientId, secret]) => ({
      clientId,
      secrets: [{ sha256: sha256Of(secret) }],
      grantTypes: ['password', 'refresh_token'],
      scopes: scope.split(' '),
      accessTokenFormat: clientId,
      refreshToken: { retryWindow },
    })),
    scopes: [{ name: api[0], secrets: [{ sha256: sha256Of(api[1]) }] }],
    users: Array.from({ length: users }, (_, user) => ({
      sub: String(user),
      username: `user-${user}`,
      password: hash,
    })),
  }
  writeFileSync(file, JSON.stringify(configuration))
  return file
}
