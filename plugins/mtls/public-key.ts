import { contentOf, type DerValue, expectTag, objectIdentifier, readAll, tags } from './der.ts'
import { base64urlOf } from './encoding.ts'

/** The public members of a JWK that identify the key. @see RFC 7638 section 3.2; RFC 8037 section 2 */
export type KeyMembers = Readonly<Record<string, string>>

const curves: Readonly<Record<string, string>> = {
  '1.2.840.10045.3.1.7': 'P-256',
  '1.3.132.0.34': 'P-384',
  '1.3.132.0.35': 'P-521',
}

/** Returns the octets of an unsigned integer, without leading zeros. */
const unsigned = (value: DerValue | undefined): string => {
  const { content } = expectTag(value, tags.integer)
  return base64urlOf(content.subarray(content.findIndex((octet) => octet !== 0)))
}

/** The base64url characters of the 256 octets of a modulus of 2048 bits. */
const minModulus = 342

/** Whether a key is an RSA key of fewer than 2048 bits, which is not secure (NIST SP 800-57 part 1, table 2). */
export const isShort = (key: KeyMembers | undefined): boolean => key?.kty === 'RSA' && (key.n ?? '').length < minModulus

/** Returns the members of the JWK of a SubjectPublicKeyInfo; `undefined` for a key of another kind. @throws RangeError */
export function keyMembersOf(publicKey: DerValue): KeyMembers | undefined {
  const [algorithm, bits] = contentOf(publicKey, tags.sequence)
  const [id, parameters] = contentOf(algorithm, tags.sequence)
  // The first octet is the number of unused bits.
  const key = expectTag(bits, tags.bitString).content.subarray(1)
  switch (objectIdentifier(id)) {
    case '1.2.840.113549.1.1.1':
    case '1.2.840.113549.1.1.10': {
      const [modulus, exponent] = contentOf(readAll(key)[0], tags.sequence)
      return { kty: 'RSA', n: unsigned(modulus), e: unsigned(exponent) }
    }
    case '1.2.840.10045.2.1': {
      const half = (key.length - 1) / 2
      const crv = curves[objectIdentifier(parameters)]
      // 4: not compressed.
      if (crv === undefined || key[0] !== 4 || !Number.isInteger(half)) return undefined
      return { kty: 'EC', crv, x: base64urlOf(key.subarray(1, 1 + half)), y: base64urlOf(key.subarray(1 + half)) }
    }
    case '1.3.101.112':
      return { kty: 'OKP', crv: 'Ed25519', x: base64urlOf(key) }
    default:
      return undefined
  }
}
