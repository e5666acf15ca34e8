import type { JWK } from 'jose'
import { decodeProtectedHeader } from 'jose/decode/protected_header'
import { decodeJwt } from 'jose/jwt/decode'

/** Characters. Room for a key of RSA with 4096 bits. */
const maxLength = 4096

// Only one proof: several headers arrive as one value with commas (RFC 9449 section 4.3, check 1).
const compactForm = /^[\w-]+\.[\w-]+\.[\w-]+$/u

/** The members of a public key, without optional ones (RFC 7638 section 3.2), and their greatest lengths. */
const publicMembers = {
  EC: { crv: /^P-(?:256|384|521)$/u, x: /^[\w-]{1,88}$/u, y: /^[\w-]{1,88}$/u },
  OKP: { crv: /^Ed25519$/u, x: /^[\w-]{43}$/u },
  // At most 4096 bits, and an exponent of 32 bits: the time of a verification grows with both.
  RSA: { e: /^[\w-]{1,6}$/u, n: /^[\w-]{1,683}$/u },
} as const

/** Members of private and symmetric keys. */
const privateMembers = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k']

/** A proof whose signature has not been verified yet. */
export interface UnverifiedProof {
  readonly jwt: string
  readonly alg: string
  /** Only the members of the thumbprint. */
  readonly jwk: JWK
  readonly jti: string
  readonly htm: string
  readonly htu: string
  readonly iat: number
  readonly ath: string | undefined
  readonly nonce: string | undefined
  /** The claims, for `exp` and `nbf`. */
  readonly claims: Readonly<Record<string, unknown>>
}

function publicKeyOf(value: unknown): JWK | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const key = value as Readonly<Record<string, unknown>>
  if (privateMembers.some((member) => Object.hasOwn(key, member))) return undefined
  if (key.kty !== 'EC' && key.kty !== 'OKP' && key.kty !== 'RSA') return undefined
  const members = Object.entries(publicMembers[key.kty])
  if (!members.every(([name, form]) => typeof key[name] === 'string' && form.test(key[name]))) return undefined
  return { kty: key.kty, ...Object.fromEntries(members.map(([name]) => [name, key[name]])) }
}

const isText = (value: unknown, maxLength: number): value is string =>
  typeof value === 'string' && value !== '' && value.length <= maxLength

const isOptionalText = (value: unknown, maxLength: number): value is string | undefined =>
  value === undefined || isText(value, maxLength)

/**
 * Reads a proof without verifying it. Returns `undefined` if it is malformed.
 *
 * @see RFC 9449 sections 4.2 and 4.3
 */
export function readProof(jwt: string): UnverifiedProof | undefined {
  if (jwt.length > maxLength || !compactForm.test(jwt)) return undefined
  try {
    const { typ, alg, jwk: key } = decodeProtectedHeader(jwt)
    const claims = decodeJwt(jwt)
    const { jti, htm, htu, iat, ath, nonce } = claims
    const jwk = publicKeyOf(key)
    if (String(typ).toLowerCase() !== 'dpop+jwt' || alg === undefined || jwk === undefined) return undefined
    if (!isText(jti, 256) || !isText(htm, 32) || !isText(htu, 2048) || !Number.isFinite(iat)) return undefined
    if (!isOptionalText(ath, 64) || !isOptionalText(nonce, 500)) return undefined
    return { jwt, alg, jwk, jti, htm, htu, iat: iat as number, ath, nonce, claims }
  } catch {
    return undefined
  }
}
