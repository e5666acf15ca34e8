import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'

/** Cost of a hash: N = 2^ln, block size r, parallelism p (RFC 7914). */
interface ScryptCost {
  readonly ln: number
  readonly r: number
  readonly p: number
}

/** A password at rest, taken apart: `$scrypt$ln=15,r=8,p=1$SALT$HASH`, base64 without padding. */
export interface PasswordHash extends ScryptCost {
  readonly salt: Buffer
  readonly hash: Buffer
}

const form = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/u

// 32 MiB and some 70 ms: what OWASP's password storage sheet asks of scrypt, near enough.
const defaultCost: ScryptCost = { ln: 15, r: 8, p: 1 }

/** Bytes that checking one password may take; four are checked at once. */
const mostMemory = 256 * 1024 * 1024

/** `undefined` where the text is no hash, or one so expensive that checking it would be an attack. */
export function parsePasswordHash(text: string): PasswordHash | undefined {
  const [, ln, r, p, salt, hash] = form.exec(text) ?? []
  if (salt === undefined || hash === undefined) return undefined
  const cost = { ln: Number(ln), r: Number(r), p: Number(p) }
  if (cost.ln < 10 || cost.ln > 20 || cost.r < 1 || cost.p < 1 || cost.p > 16) return undefined
  if (128 * 2 ** cost.ln * cost.r > mostMemory) return undefined
  const parsed = { ...cost, salt: Buffer.from(salt, 'base64'), hash: Buffer.from(hash, 'base64') }
  return parsed.hash.length >= 16 && parsed.salt.length >= 8 ? parsed : undefined
}

/** On the thread pool: the event loop goes on. */
function derive(password: string, salt: Buffer, length: number, { ln, r, p }: ScryptCost): Promise<Buffer> {
  const N = 2 ** ln
  return new Promise((resolve, reject) => {
    scrypt(password, salt, length, { N, r, p, maxmem: 256 * N * r }, (error, key) =>
      // Not compared with null: Bun calls back with undefined.
      error ? reject(error) : resolve(key),
    )
  })
}

/** Constant time in the hash. */
export async function verifyPassword(password: string, stored: PasswordHash): Promise<boolean> {
  return timingSafeEqual(await derive(password, stored.salt, stored.hash.length, stored), stored.hash)
}

const unpadded = (bytes: Buffer): string => bytes.toString('base64').replaceAll('=', '')

/** What to write as `password` of a user. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16)
  const hash = await derive(password, salt, 32, defaultCost)
  const { ln, r, p } = defaultCost
  return `$scrypt$ln=${ln},r=${r},p=${p}$${unpadded(salt)}$${unpadded(hash)}`
}
