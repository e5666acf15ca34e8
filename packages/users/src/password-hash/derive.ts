import * as crypto from 'node:crypto'
import { pbkdf2, scrypt } from 'node:crypto'
import type { Argon2Cost, PasswordCost, Pbkdf2Cost, ScryptCost } from './cost.ts'
import type { HashCall } from './hash-threads.ts'

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

/** More iterations are refused by Cloudflare, not by workerd on a machine. */
const mostInWorkers = 100_000

const pbkdf2Key = (password: string, salt: Uint8Array, length: number, cost: Pbkdf2Cost): Promise<Uint8Array> =>
  cost.iterations > mostInWorkers && hasNoThreads()
    ? import('./without-threads.ts').then(({ pbkdf2WithoutLimit }) => pbkdf2WithoutLimit(password, salt, length, cost))
    : promised((done) => pbkdf2(password, salt, cost.iterations, length, cost.algorithm.slice('pbkdf2-'.length), done))

/**
 * Whether this is Cloudflare Workers: it has no threads, and compiles no WebAssembly from bytes. Asked with each call: a
 * program can be prepared elsewhere.
 */
export const hasNoThreads = (): boolean => globalThis.navigator?.userAgent === 'Cloudflare-Workers'

/** Loaded on demand: most commands, and a server whose runtime has argon2, check the form of hashes and compute none. */
const call = async (wanted: HashCall): Promise<Uint8Array> =>
  hasNoThreads()
    ? (await import('./without-threads.ts')).callWithoutThreads(wanted)
    : (await import('./hash-threads.ts')).callInThread(wanted)

interface NativeArgon2Options {
  readonly message: Uint8Array
  readonly nonce: Uint8Array
  readonly parallelism: number
  readonly tagLength: number
  /** KiB. */
  readonly memory: number
  readonly passes: number
}

/** `crypto.argon2` of Node.js from 24.7 and of Bun, which takes half the time. */
const { argon2: nativeArgon2 } = crypto as {
  readonly argon2?: (algorithm: Argon2Cost['algorithm'], options: NativeArgon2Options, done: Done) => void
}

function argon2Key(
  text: string,
  salt: Uint8Array,
  length: number,
  { algorithm, m, t, p }: Argon2Cost,
): Promise<Uint8Array> {
  const password = new TextEncoder().encode(text)
  if (nativeArgon2 !== undefined) {
    const options = { message: password, nonce: salt, parallelism: p, tagLength: length, memory: m, passes: t }
    return promised((done) => nativeArgon2(algorithm, options, done))
  }
  const options = { memorySize: m, iterations: t, parallelism: p, hashLength: length }
  return call({ name: algorithm, options: { password, salt, ...options, outputType: 'binary' } })
}

/** bcrypt ignores further bytes, and so do the systems that created the hashes. */
const bcryptBytes = 72

/** Derives a key in another thread, so that it does not block the event loop. The length of a bcrypt key is 24 bytes. */
export const deriveKey: Derive = (password, salt, length, cost) => {
  switch (cost.algorithm) {
    case 'scrypt':
      return scryptKey(password, salt, length, cost)
    case 'bcrypt':
      return call({
        name: 'bcrypt',
        options: {
          password: new TextEncoder().encode(password).subarray(0, bcryptBytes),
          salt,
          costFactor: cost.rounds,
          outputType: 'binary',
        },
      })
    case 'argon2id':
    case 'argon2i':
      return argon2Key(password, salt, length, cost)
    default:
      return pbkdf2Key(password, salt, length, cost)
  }
}
