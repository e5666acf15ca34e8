import { randomBytes } from 'node:crypto'

/**
 * Keys and records of reference access tokens as the core stores them: about 400 bytes of JSON under a key with a
 * SHA-256.
 */
export const newKey = (): string => `access:${randomBytes(32).toString('hex')}`

export function newRecord(): string {
  const id = (): string => randomBytes(16).toString('base64url')
  return JSON.stringify({
    version: 1,
    expiresAt: 1_900_000_000,
    value: {
      claims: {
        iss: 'https://id.example.com',
        aud: 'https://api1.example.com',
        iat: 1_800_000_000,
        nbf: 1_800_000_000,
        exp: 1_900_000_000,
        jti: id(),
        client_id: 'web',
        scope: 'openid profile api1',
        sub: '1',
        auth_time: 1_800_000_000,
        idp: 'local',
        amr: ['pwd'],
        grant_id: id(),
      },
    },
  })
}
