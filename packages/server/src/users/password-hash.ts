import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'

/** Cost of a hash: N = 2^ln, block size r, parallelism p (RFC 7914). */
interface ScryptCost {
  readonly ln: number
  readonly r: number
  readonly p: number
}

/** A parsed password hash: `$scrypt$ln=15,r=8,p=1$SALT$HASH`, with base64 without padding. */
export interface PasswordHash extends ScryptCost {
  readonly salt: Buffer
  readonly hash: Buffer
}

const hashPattern = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/u

// 32 MiB and about 70 ms, close to the recommendation of the OWASP Password Storage Cheat Sheet.
const defaultCost: ScryptCost = { ln: 15, r: 8, p: 1 }
// Bytes.
const defaultLength = 32
const defaultSaltLength = 16

/** Maximum bytes of memory for one password check. Four run concurrently. */
const maxMemory = 256 * 1024 * 1024

/** Parses a hash; `undefined` if it is malformed, or so expensive that verifying it would exhaust the server. */
export function parsePasswordHash(text: string): PasswordHash | undefined {
  const [, ln, r, p, salt, hash] = hashPattern.exec(text) ?? []
  if (salt === undefined || hash === undefined) return undefined
  const cost = { ln: Number(ln), r: Number(r), p: Number(p) }
  if (cost.ln < 10 || cost.ln > 20 || cost.r < 1 || cost.p < 1 || cost.p > 16) return undefined
  if (128 * 2 ** cost.ln * cost.r > maxMemory) return undefined
  const parsed = { ...cost, salt: Buffer.from(salt, 'base64'), hash: Buffer.from(hash, 'base64') }
  return parsed.hash.length >= 16 && parsed.salt.length >= 8 ? parsed : undefined
}

/** Derives a key of `length` bytes from a password. */
export type Derive = (password: string, salt: Buffer, length: number, cost: ScryptCost) => Promise<Buffer>

/** Runs scrypt on the thread pool, so that it does not block the event loop. */
export const scryptKey: Derive = (password, salt, length, { ln, r, p }) => {
  const N = 2 ** ln
  return new Promise((resolve, reject) => {
    scrypt(password, salt, length, { N, r, p, maxmem: 256 * N * r }, (error, key) =>
      // Bun passes undefined instead of null.
      error ? reject(error) : resolve(key),
    )
  })
}

/** Returns the distinct costs of these hashes, the most expensive first. */
function costsOf(hashes: readonly PasswordHash[]): readonly ScryptCost[] {
  const costs = new Map(hashes.map(({ ln, r, p }) => [`${ln},${r},${p}`, { ln, r, p }]))
  if (costs.size === 0) return [defaultCost]
  const work = ({ ln, r, p }: ScryptCost): number => 2 ** ln * r * p
  return [...costs.values()].sort((one, other) => work(other) - work(one))
}

/** Whether a password matches one of the hashes that the check was created with; `undefined` is an unknown user. */
export type PasswordCheck = (password: string, stored: PasswordHash | undefined) => Promise<boolean>

/**
 * Creates a check that always does the same work: it derives one key of the same length for each cost among the hashes,
 * in the same order, even for an unknown user. Its duration does not reveal which users exist, or who has an old hash.
 */
export function createPasswordCheck(hashes: readonly PasswordHash[], derive: Derive = scryptKey): PasswordCheck {
  const costs = costsOf(hashes)
  // A shorter key is a prefix of a longer one, because the last step is PBKDF2 with one iteration (RFC 7914 section 6,
  // RFC 8018 section 5.2).
  const length = hashes.reduce((longest, { hash }) => Math.max(longest, hash.length), defaultLength)
  const decoySalt = randomBytes(defaultSaltLength)
  return async (password, stored) => {
    let matches = false
    for (const cost of costs) {
      const isOwn = stored?.ln === cost.ln && stored.r === cost.r && stored.p === cost.p
      const key = await derive(password, isOwn ? stored.salt : decoySalt, length, cost)
      if (isOwn) matches = timingSafeEqual(key.subarray(0, stored.hash.length), stored.hash)
    }
    return matches
  }
}

const unpadded = (bytes: Buffer): string => bytes.toString('base64').replaceAll('=', '')

/**
 * Hashes a password for the `password` of a configured user, with scrypt and a random salt. Takes 32 MiB and about 70 ms
 * of a thread.
 *
 * @see RFC 7914
 */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(defaultSaltLength)
  const hash = await scryptKey(password, salt, defaultLength, defaultCost)
  const { ln, r, p } = defaultCost
  return `$scrypt$ln=${ln},r=${r},p=${p}$${unpadded(salt)}$${unpadded(hash)}`
}
