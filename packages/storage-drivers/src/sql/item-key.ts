/** The first byte of a packed key. */
const plain = 0
/** The last 32 bytes are the hash at the end of the key. */
const hashed = 1

const hashLength = 32
/** Maximum number of bytes. An entry of an index of PostgreSQL takes 2,704. */
const maxLength = 1024

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

// The keys of the core end with a SHA-256 in hex digits.
const endsWithHash = /[0-9a-f]{64}$/u
// UTF-8 cannot represent them: several keys would become one.
const loneSurrogate = /[\uD800-\uDFFF]/u

const digit = (code: number): number => (code < 58 ? code - 48 : code - 87)

/**
 * Returns the key of an item as bytes, so that the index stays small: those of a hash instead of its hex digits. Two keys
 * never become the same bytes.
 *
 * @throws TypeError when the key is too long or is not well-formed Unicode
 */
export function packKey(key: string): Uint8Array {
  if (loneSurrogate.test(key)) throw new TypeError('The key of a stored item is not well-formed Unicode')
  const start = endsWithHash.test(key) ? key.length - 2 * hashLength : key.length
  const text = encoder.encode(key.slice(0, start))
  const packed = new Uint8Array(1 + text.length + (key.length - start) / 2)
  if (packed.length > maxLength) {
    throw new TypeError(`The key of a stored item takes ${packed.length} bytes; the maximum is ${maxLength}`)
  }
  packed[0] = start === key.length ? plain : hashed
  packed.set(text, 1)
  for (let at = start, to = 1 + text.length; at < key.length; at += 2, to += 1) {
    packed[to] = digit(key.charCodeAt(at)) * 16 + digit(key.charCodeAt(at + 1))
  }
  return packed
}

const hexOf = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')

/** Returns the key that `packKey()` has packed. */
export function unpackKey(packed: Uint8Array): string {
  const end = packed[0] === hashed ? packed.length - hashLength : packed.length
  return decoder.decode(packed.subarray(1, end)) + hexOf(packed.subarray(end))
}

/** Packed keys from the first bytes to below the second ones. */
export type PackedRange = readonly [from: Uint8Array, below: Uint8Array]

/**
 * Returns the ranges that contain every packed key that starts with `base`. They can contain others, because a `base` can
 * end within a hash.
 */
export function packedRanges(base: string): readonly PackedRange[] {
  const text = encoder.encode(base.replace(/[0-9a-f]{1,64}$/u, ''))
  return [plain, hashed].map((form): PackedRange => {
    const from = Uint8Array.of(form, ...text)
    const below = from.slice()
    // UTF-8 has no byte 0xFF, so this does not overflow.
    below[below.length - 1] = (below.at(-1) ?? 0) + 1
    return [from, below]
  })
}

/** Returns the range of the keys that start with `base` and come after `after`. None of them ends with a hash. */
export function pageRange(base: string, after: string): PackedRange {
  const from = Uint8Array.of(plain, ...encoder.encode(base))
  const below = from.slice()
  below[below.length - 1] = (below.at(-1) ?? 0) + 1
  return [after < base ? from : Uint8Array.of(...packKey(after), 0), below]
}
