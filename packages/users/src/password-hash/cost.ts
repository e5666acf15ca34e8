/** Cost of scrypt: N = 2^ln, block size r, parallelism p (RFC 7914). */
export interface ScryptCost {
  readonly algorithm: 'scrypt'
  readonly ln: number
  readonly r: number
  readonly p: number
}

/** Cost of Argon2 (RFC 9106): memory in KiB, passes, lanes. */
export interface Argon2Cost {
  readonly algorithm: 'argon2id' | 'argon2i'
  readonly m: number
  readonly t: number
  readonly p: number
}

/** Cost of bcrypt: 2^rounds. */
export interface BcryptCost {
  readonly algorithm: 'bcrypt'
  readonly rounds: number
}

/** Cost of PBKDF2 (RFC 8018). */
export interface Pbkdf2Cost {
  readonly algorithm: 'pbkdf2-sha1' | 'pbkdf2-sha256' | 'pbkdf2-sha512'
  readonly iterations: number
}

/** An algorithm and its cost. */
export type PasswordCost = ScryptCost | Argon2Cost | BcryptCost | Pbkdf2Cost

/** Maximum bytes of memory for one check of a password. Four run concurrently. */
const maxMemory = 256 * 1024 * 1024

/** Maximum bytes that one check writes: about two seconds of a core. */
const maxTraffic = 4 * maxMemory

/** Maximum iterations of PBKDF2, times the blocks of its output. */
const maxIterations = 4_000_000

/** The block that each digest produces, in bytes. */
const blocks = { 'pbkdf2-sha1': 20, 'pbkdf2-sha256': 32, 'pbkdf2-sha512': 64 } as const

/** The recommendations of the OWASP Password Storage Cheat Sheet. */
const recommendedIterations = { 'pbkdf2-sha1': 1_300_000, 'pbkdf2-sha256': 600_000, 'pbkdf2-sha512': 210_000 } as const

/** The cost of new hashes, except in Workers: 19 MiB in two passes, the second recommendation of the same document for Argon2id. */
export const defaultCost: Argon2Cost = { algorithm: 'argon2id', m: 19_456, t: 2, p: 1 }

/** 32 MiB: close to the recommendation of the same document, and the cost of the hashes of earlier versions and of Workers. */
export const recommendedScrypt: ScryptCost = { algorithm: 'scrypt', ln: 15, r: 8, p: 1 }

/** Returns why a hash of this cost and length cannot be checked. Such a hash could exhaust the server. */
export function costProblem(cost: PasswordCost, length: number): string | undefined {
  switch (cost.algorithm) {
    case 'scrypt': {
      const memory = 128 * 2 ** cost.ln * cost.r
      const fits = cost.ln >= 10 && cost.ln <= 20 && cost.r >= 1 && cost.p >= 1 && cost.p <= 16
      return fits && memory <= maxMemory && memory * cost.p <= maxTraffic
        ? undefined
        : 'the cost of scrypt must be ln=10 to 20, p=1 to 16, and at most 256 MiB, written at most 4 times'
    }
    case 'bcrypt':
      return cost.rounds >= 4 && cost.rounds <= 15 ? undefined : 'the cost of bcrypt must be 4 to 15'
    case 'argon2id':
    case 'argon2i': {
      const memory = 1024 * cost.m
      const fits = cost.t >= 1 && cost.p >= 1 && cost.p <= 16 && cost.m >= 8 * cost.p
      return fits && memory <= maxMemory && memory * cost.t <= maxTraffic
        ? undefined
        : 'the cost of Argon2 must be p=1 to 16, and at most 256 MiB, written at most 4 times (m=65536,t=16)'
    }
    default: {
      const work = cost.iterations * Math.ceil(length / blocks[cost.algorithm])
      return cost.iterations >= 1000 && work <= maxIterations
        ? undefined
        : 'the cost of PBKDF2 must be 1,000 to 4,000,000 iterations, fewer for a hash of several blocks'
    }
  }
}

/** The work of guessing a password, in relation to the recommended cost of the same algorithm. */
export function relativeCost(cost: PasswordCost): number {
  switch (cost.algorithm) {
    case 'scrypt':
      return (2 ** cost.ln * cost.r * cost.p) / (2 ** recommendedScrypt.ln * recommendedScrypt.r * recommendedScrypt.p)
    case 'bcrypt':
      return 2 ** (cost.rounds - 10)
    case 'argon2id':
    case 'argon2i':
      return (cost.m * cost.t) / (defaultCost.m * defaultCost.t)
    default:
      return cost.iterations / recommendedIterations[cost.algorithm]
  }
}

/** Returns the cost as the formats write it, such as `ln=15,r=8,p=1`. */
export const costText = ({ algorithm: _, ...cost }: PasswordCost): string =>
  Object.entries(cost)
    .map(([name, value]) => `${name}=${value}`)
    .join(',')
