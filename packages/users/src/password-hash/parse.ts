import { costProblem, type PasswordCost } from './cost.ts'

/** A parsed password hash. */
export interface PasswordHash {
  readonly cost: PasswordCost
  readonly salt: Uint8Array
  readonly hash: Uint8Array
}

const base64 = '[A-Za-z0-9+/]+'
const scryptForm = new RegExp(`^\\$scrypt\\$ln=(\\d{1,2}),r=(\\d{1,2}),p=(\\d{1,2})\\$(${base64})\\$(${base64})$`, 'u')
const argon2Form = new RegExp(
  `^\\$(argon2id|argon2i)\\$v=19\\$m=(\\d{1,7}),t=(\\d{1,5}),p=(\\d{1,3})\\$(${base64})\\$(${base64})$`,
  'u',
)
const bcryptForm = /^\$2[aby]\$(\d\d)\$([./A-Za-z0-9]{22})([./A-Za-z0-9]{31})$/u
// With `i=` as a PHC string, without as passlib writes it, which also replaces `+` by `.`. `l=` is the length in bytes.
const pbkdf2Form =
  /^\$pbkdf2(-sha1|-sha256|-sha512)?\$(?:i=)?(\d{1,8})(?:,l=(\d{1,3}))?\$([A-Za-z0-9+./]+)\$([A-Za-z0-9+./]+)$/u
const djangoForm = /^pbkdf2_(sha1|sha256)\$(\d{1,8})\$([^$]{1,255})\$([A-Za-z0-9+/]+={0,2})$/u
// Version 3 of ASP.NET Core Identity: 13 bytes of numbers, the salt and the hash.
const identityForm = /^AQAAAA[A-Za-z0-9+/]{20,200}={0,2}$/u

// Version 2, and ASP.NET Identity 2: a zero, 16 bytes of salt and 32 of PBKDF2 with SHA-1 and 1,000 iterations.
const oldIdentityForm = /^A[A-P][A-Za-z0-9+/]{64}==$/u

const bytesOf = (text: string): Buffer => Buffer.from(text.replaceAll('.', '+'), 'base64')

const bcryptAlphabet = './ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
const base64Alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

/** bcrypt has an alphabet of its own. */
const bcryptBytes = (text: string): Buffer =>
  Buffer.from(
    text.replace(/./gu, (letter) => base64Alphabet[bcryptAlphabet.indexOf(letter)] ?? ''),
    'base64',
  )

function scryptHash(text: string): PasswordHash | undefined {
  const [, ln, r, p, salt, hash] = scryptForm.exec(text) ?? []
  if (salt === undefined || hash === undefined) return undefined
  const cost = { algorithm: 'scrypt', ln: Number(ln), r: Number(r), p: Number(p) } as const
  return { cost, salt: bytesOf(salt), hash: bytesOf(hash) }
}

function argon2Hash(text: string): PasswordHash | undefined {
  const [, algorithm, m, t, p, salt, hash] = argon2Form.exec(text) ?? []
  if (salt === undefined || hash === undefined) return undefined
  const cost = { m: Number(m), t: Number(t), p: Number(p) }
  return {
    cost: { algorithm: algorithm === 'argon2i' ? 'argon2i' : 'argon2id', ...cost },
    salt: bytesOf(salt),
    hash: bytesOf(hash),
  }
}

function bcryptHash(text: string): PasswordHash | undefined {
  const [, rounds, salt, hash] = bcryptForm.exec(text) ?? []
  if (salt === undefined || hash === undefined) return undefined
  return { cost: { algorithm: 'bcrypt', rounds: Number(rounds) }, salt: bcryptBytes(salt), hash: bcryptBytes(hash) }
}

const digests = { sha1: 'pbkdf2-sha1', sha256: 'pbkdf2-sha256', sha512: 'pbkdf2-sha512' } as const
type Digest = keyof typeof digests

const pbkdf2 = (digest: Digest, iterations: number, salt: Uint8Array, hash: Uint8Array): PasswordHash => ({
  cost: { algorithm: digests[digest], iterations },
  salt,
  hash,
})

function pbkdf2Hash(text: string): PasswordHash | undefined {
  const [, digest = '-sha1', iterations, length, salt, hash] = pbkdf2Form.exec(text) ?? []
  if (salt === undefined || hash === undefined) return undefined
  const bytes = bytesOf(hash)
  if (length !== undefined && Number(length) !== bytes.length) return undefined
  return pbkdf2(digest.slice(1) as Digest, Number(iterations), bytesOf(salt), bytes)
}

function djangoHash(text: string): PasswordHash | undefined {
  const [, digest, iterations, salt, hash] = djangoForm.exec(text) ?? []
  if (salt === undefined || hash === undefined) return undefined
  // The salt of Django is a text, not base64.
  return pbkdf2(digest as Digest, Number(iterations), Buffer.from(salt), bytesOf(hash))
}

function identityHash(text: string): PasswordHash | undefined {
  if (!identityForm.test(text)) return undefined
  const bytes = bytesOf(text)
  const digest = (['sha1', 'sha256', 'sha512'] as const)[bytes.readUInt32BE(1)]
  const saltEnd = 13 + bytes.readUInt32BE(9)
  if (digest === undefined || saltEnd > bytes.length) return undefined
  return pbkdf2(digest, bytes.readUInt32BE(5), bytes.subarray(13, saltEnd), bytes.subarray(saltEnd))
}

function oldIdentityHash(text: string): PasswordHash | undefined {
  if (!oldIdentityForm.test(text)) return undefined
  const bytes = bytesOf(text)
  return bytes[0] === 0 ? pbkdf2('sha1', 1000, bytes.subarray(1, 17), bytes.subarray(17)) : undefined
}

const formats = [scryptHash, argon2Hash, bcryptHash, pbkdf2Hash, djangoHash, identityHash, oldIdentityHash]

const malformed =
  'must be a hash like $argon2id$v=19$m=19456,t=2,p=1$SALT$HASH, $scrypt$..., $2b$..., $pbkdf2-sha256$..., one of Django, or one of ASP.NET Identity (AQAAAA..., or 68 characters that start with A); make one with grantry hash-password'

/** Returns the hash, or why it cannot be checked. The text does not contain the hash. */
function read(text: string): PasswordHash | string {
  const hash = text.length > 512 ? undefined : formats.map((format) => format(text)).find((parsed) => parsed)
  if (hash === undefined) return malformed
  if (hash.hash.length < 16 || hash.hash.length > 64) return 'the hash must have 16 to 64 bytes'
  if (hash.salt.length < 8) return 'the salt must have at least 8 bytes'
  return costProblem(hash.cost, hash.hash.length) ?? hash
}

/**
 * Parses a hash in one of these formats; `undefined` if it is malformed, or so expensive that verifying it would exhaust
 * the server:
 *
 * - PHC strings: `$argon2id$v=19$m=19456,t=2,p=1$…`, `$scrypt$ln=15,r=8,p=1$…`, `$pbkdf2-sha256$i=600000$…`, in which
 *   salt and hash are base64 without padding, and what passlib writes instead: `$pbkdf2-sha256$600000$…`
 * - bcrypt: `$2a$`, `$2b$` and `$2y$`
 * - Django: `pbkdf2_sha256$600000$SALT$HASH`
 * - ASP.NET Core Identity, version 3: `AQAAAA…`; version 2, and ASP.NET Identity 2: 68 characters, `A…==`
 */
export function parsePasswordHash(text: string): PasswordHash | undefined {
  const outcome = read(text)
  return typeof outcome === 'string' ? undefined : outcome
}

/** Returns why `parsePasswordHash()` returns `undefined`. The text does not contain the hash. */
export function passwordHashProblem(text: string): string | undefined {
  const outcome = read(text)
  return typeof outcome === 'string' ? outcome : undefined
}
