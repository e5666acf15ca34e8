import { scryptSync } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Credentials, sha256Of } from '@grantry/testing'
import type { NetworkStore } from '../../test/support/network-stores.ts'

export const issuer = 'https://id.example.com'
export const client: Credentials = ['shop', 'shop-secret']
export const redirectUri = 'https://shop.example.com/callback'
export const scope = 'openid offline_access'
/** Logins of one user would wait for each other. */
export const users = 100

export const credentialsOf = (user: number): readonly [username: string, password: string] => [
  `user-${user % users}`,
  'a password',
]

/** The lowest cost that the server accepts: this proves the sign-in, not the hashing. */
export function passwordHash(): string {
  const salt = Buffer.from('salt of a proof.')
  const text = (bytes: Buffer): string => bytes.toString('base64').replaceAll('=', '')
  return `$scrypt$ln=10,r=8,p=1$${text(salt)}$${text(scryptSync(credentialsOf(0)[1], salt, 32, { N: 1024, r: 8, p: 1 }))}`
}

const signInAt = (issuer: string) => ({
  name: 'sign-in',
  passwords: false,
  providers: [{ name: 'acme', issuer, clientId: 'grantry', clientSecret: 'acme-secret', allowPrivateAddresses: true }],
})

/**
 * Writes the configuration of the servers. Returns its path.
 *
 * @param upstream the issuer of another provider, at which all users sign in
 */
export function writeSetting(directory: string, storage: NetworkStore, upstream?: string): string {
  const file = join(directory, 'grantry.config.json')
  const password = passwordHash()
  const configuration = {
    issuer,
    storage,
    clients: [
      {
        clientId: client[0],
        clientName: 'Shop',
        secrets: [{ sha256: sha256Of(client[1]) }],
        grantTypes: ['authorization_code', 'refresh_token'],
        scopes: scope.split(' '),
        redirectUris: [redirectUri],
      },
    ],
    users: Array.from({ length: users }, (_, user) => ({
      sub: String(user),
      username: credentialsOf(user)[0],
      password,
    })),
    plugins: [upstream === undefined ? { name: 'sign-in' } : signInAt(upstream)],
    // So that one machine can act as many.
    trustedProxies: 1,
    // Thousands of sign-ins begin in minutes.
    abuseControl: { waitingRequests: { perAddress: 1_000_000, total: 1_000_000 } },
  }
  writeFileSync(file, JSON.stringify(configuration))
  return file
}
