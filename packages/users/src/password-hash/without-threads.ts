import { argon2i, argon2id } from '@noble/hashes/argon2.js'
import { bcryptKey } from './bcrypt.ts'
import type { HashCall } from './hash-threads.ts'

/** Computes a hash in JavaScript. It blocks the isolate, whose other requests wait. */
export async function callWithoutThreads({ name, options }: HashCall): Promise<Uint8Array> {
  const { password, salt } = options
  if ('costFactor' in options) return bcryptKey(password, salt, options.costFactor)
  const { iterations: t, memorySize: m, parallelism: p, hashLength: dkLen } = options
  return (name === 'argon2i' ? argon2i : argon2id)(password, salt, { t, m, p, dkLen })
}
