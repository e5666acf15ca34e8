import { randomBytes } from 'node:crypto'
import { foldedPassword } from '@grantry/core'
import { costText, defaultCost, type PasswordCost, recommendedScrypt, relativeCost } from './cost.ts'
import { deriveKey, hasNoThreads } from './derive.ts'
import type { PasswordHash } from './parse.ts'

/** Bytes. */
export const defaultLength = 32
/** Bytes. */
export const defaultSaltLength = 16

/** The cost of new hashes. Workers compute argon2 in JavaScript, and scrypt natively in less than half the time. */
export const newCost = (): PasswordCost => (hasNoThreads() ? recommendedScrypt : defaultCost)

const unpadded = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64').replaceAll('=', '')

/**
 * Hashes a password with argon2id and a random salt: a PHC string of 98 characters. Takes 19 MiB and about 60 ms of a
 * thread. In Cloudflare Workers, with scrypt: 87 characters, 32 MiB. All forms in which devices send a password have one hash: see `foldedPassword()`.
 *
 * @throws TypeError for an empty password or one with NUL, which match no hash.
 * @see RFC 9106
 * @see docs/decisions/0163-new-passwords.md
 */
export async function hashPassword(password: string): Promise<string> {
  if (password === '') throw new TypeError('the password is empty')
  if (password.includes('\0')) throw new TypeError('the password contains NUL')
  const salt = randomBytes(defaultSaltLength)
  const cost = newCost()
  const hash = await deriveKey(foldedPassword(password), salt, defaultLength, cost)
  const name = cost.algorithm === 'argon2id' ? 'argon2id$v=19' : cost.algorithm
  return `$${name}$${costText(cost)}$${unpadded(salt)}$${unpadded(hash)}`
}

/**
 * Whether a sign-in should replace this hash by a new one: it is cheaper than recommended, or not of the algorithm of new hashes.
 * A strong hash of another one is replaced too, because each attempt computes every algorithm that the users have.
 */
export const needsRehash = ({ cost }: PasswordHash): boolean =>
  cost.algorithm !== newCost().algorithm || relativeCost(cost) < 1
