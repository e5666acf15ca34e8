import { pbkdf2, scrypt } from 'node:crypto'
import type { PasswordCost, Pbkdf2Cost, ScryptCost } from './cost.ts'
import { callInThread } from './hash-threads.ts'

/** Derives a key of `length` bytes from a password that is not empty. */
export type Derive = (password: string, salt: Uint8Array, length: number, cost: PasswordCost) => Promise<Uint8Array>

type Done = (error: Error | null | undefined, key: Uint8Array) => void

const promised = (start: (done: Done) => void): Promise<Uint8Array> =>
  new Promise((resolve, reject) => {
    // Bun passes undefined instead of null.
    start((error, key) => (error ? reject(error) : resolve(key)))
  })

function scryptKey(password: string, salt: Uint8Array, length: number, { ln, r, p }: ScryptCost): Promise<Uint8Array> {
  const N = 2 ** ln
  return promised((done) => scrypt(password, salt, length, { N, r, p, maxmem: 256 * N * r }, done))
}

const pbkdf2Key = (
  password: string,
  salt: Uint8Array,
  length: number,
  { algorithm, iterations }: Pbkdf2Cost,
): Promise<Uint8Array> =>
  promised((done) => pbkdf2(password, salt, iterations, length, algorithm.slice('pbkdf2-'.length), done))

/** bcrypt ignores further bytes, and so do the systems that created the hashes. */
const bcryptBytes = 72

/** Derives a key in another thread, so that it does not block the event loop. The length of a bcrypt key is 24 bytes. */
export const deriveKey: Derive = (password, salt, length, cost) => {
  switch (cost.algorithm) {
    case 'scrypt':
      return scryptKey(password, salt, length, cost)
    case 'bcrypt':
      return callInThread('bcrypt', {
        password: new TextEncoder().encode(password).subarray(0, bcryptBytes),
        salt,
        costFactor: cost.rounds,
        outputType: 'binary',
      })
    case 'argon2id':
    case 'argon2i':
      return callInThread(cost.algorithm, {
        password: new TextEncoder().encode(password),
        salt,
        memorySize: cost.m,
        iterations: cost.t,
        parallelism: cost.p,
        hashLength: length,
        outputType: 'binary',
      })
    default:
      return pbkdf2Key(password, salt, length, cost)
  }
}
