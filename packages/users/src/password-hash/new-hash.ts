import { randomBytes } from 'node:crypto'
import { foldedPassword } from '@grantry/core'
import { costText, defaultCost, relativeCost } from './cost.ts'
import { deriveKey } from './derive.ts'
import type { PasswordHash } from './parse.ts'

/** Bytes. */
export const defaultLength = 32
/** Bytes. */
export const defaultSaltLength = 16

const unpadded = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64').replaceAll('=', '')

/**
 * Hashes a password with argon2id and a random salt: a PHC string of 98 characters. Takes 19 MiB and about 60 ms of a
 * thread. All forms in which devices send a password have one hash: see `foldedPassword()`.
 *
 * @throws TypeError for an empty password or one with NUL, which match no hash.
 * @see RFC 9106
 * @see docs/decisions/0163-new-passwords.md
 */
export async function hashPassword(password: string): Promise<string> {
  if (password === '') throw new TypeError('the password is empty')
  if (password.includes('\0')) throw new TypeError('the password contains NUL')
  const salt = randomBytes(defaultSaltLength)
  const hash = await deriveKey(foldedPassword(password), salt, defaultLength, defaultCost)
  return `$argon2id$v=19$${costText(defaultCost)}$${unpadded(salt)}$${unpadded(hash)}`
}

/**
 * Whether a sign-in should replace this hash by a new one: it is cheaper than recommended, or not of argon2id. A strong
 * scrypt hash is replaced too, because each attempt computes every algorithm that the users have.
 */
export const needsRehash = ({ cost }: PasswordHash): boolean => cost.algorithm !== 'argon2id' || relativeCost(cost) < 1
