import { randomBytes } from 'node:crypto'
import { defaultCost, relativeCost } from './cost.ts'
import { deriveKey } from './derive.ts'
import type { PasswordHash } from './parse.ts'

/** Bytes. */
export const defaultLength = 32
/** Bytes. */
export const defaultSaltLength = 16

const unpadded = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64').replaceAll('=', '')

/**
 * Hashes a password with scrypt and a random salt: a PHC string. Takes 32 MiB and about 70 ms of a thread.
 *
 * @throws TypeError for an empty password or one with NUL, which match no hash.
 * @see RFC 7914
 */
export async function hashPassword(password: string): Promise<string> {
  if (password === '') throw new TypeError('the password is empty')
  if (password.includes('\0')) throw new TypeError('the password contains NUL')
  const salt = randomBytes(defaultSaltLength)
  const hash = await deriveKey(password, salt, defaultLength, defaultCost)
  const { ln, r, p } = defaultCost
  return `$scrypt$ln=${ln},r=${r},p=${p}$${unpadded(salt)}$${unpadded(hash)}`
}

/**
 * Whether a sign-in should replace this hash by a new one: it is cheaper than recommended, or of an algorithm that needs
 * little memory (bcrypt, PBKDF2) or is outdated (argon2i).
 */
export const needsRehash = ({ cost }: PasswordHash): boolean =>
  !(cost.algorithm === 'scrypt' || cost.algorithm === 'argon2id') || relativeCost(cost) < 1
