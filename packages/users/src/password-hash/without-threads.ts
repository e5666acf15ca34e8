import { argon2i, argon2id } from '@noble/hashes/argon2.js'
import { sha1 } from '@noble/hashes/legacy.js'
import { pbkdf2Async } from '@noble/hashes/pbkdf2.js'
import { sha256, sha512 } from '@noble/hashes/sha2.js'
import { bcryptKey } from './bcrypt.ts'
import type { Pbkdf2Cost } from './cost.ts'
import type { HashCall } from './hash-threads.ts'

/** Computes a hash in JavaScript. It blocks the isolate, whose other requests wait. */
export async function callWithoutThreads({ name, options }: HashCall): Promise<Uint8Array> {
  const { password, salt } = options
  if ('costFactor' in options) return bcryptKey(password, salt, options.costFactor)
  const { iterations: t, memorySize: m, parallelism: p, hashLength: dkLen } = options
  return (name === 'argon2i' ? argon2i : argon2id)(password, salt, { t, m, p, dkLen })
}

const digests = { 'pbkdf2-sha1': sha1, 'pbkdf2-sha256': sha256, 'pbkdf2-sha512': sha512 } as const

/** Computes PBKDF2 in JavaScript, which takes seconds. */
export const pbkdf2WithoutLimit = (
  password: string,
  salt: Uint8Array,
  dkLen: number,
  { algorithm, iterations: c }: Pbkdf2Cost,
): Promise<Uint8Array> => pbkdf2Async(digests[algorithm], password, salt, { c, dkLen })
