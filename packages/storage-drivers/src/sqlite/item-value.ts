// Engines end a text at its first NUL, and UTF-8 cannot represent a lone surrogate.
const unsafe = /[\0\uD800-\uDFFF]/u

/** Returns the value of an item as it is stored: a text, or the UTF-16 of one that would not come back unchanged. */
export function encodeValue(value: string): string | Uint8Array {
  if (typeof value !== 'string') throw new TypeError('The value of a stored item is not a string')
  if (!unsafe.test(value)) return value
  const bytes = new Uint8Array(value.length * 2)
  for (let index = 0; index < value.length; index += 1) {
    const unit = value.charCodeAt(index)
    bytes[2 * index] = unit & 0xff
    bytes[2 * index + 1] = unit >> 8
  }
  return bytes
}

/** Engines return bytes as different types. */
export function bytesOf(stored: unknown): Uint8Array {
  if (stored instanceof Uint8Array) return stored
  if (stored instanceof ArrayBuffer) return new Uint8Array(stored)
  // D1.
  if (Array.isArray(stored)) return Uint8Array.from(stored)
  throw new TypeError('The stored item has an unexpected type')
}

/** Returns the value that `encodeValue()` has encoded. */
export function decodeValue(stored: unknown): string {
  if (typeof stored === 'string') return stored
  const bytes = bytesOf(stored)
  let value = ''
  for (let index = 0; index + 1 < bytes.length; index += 2) {
    value += String.fromCharCode((bytes[index] ?? 0) + (bytes[index + 1] ?? 0) * 256)
  }
  return value
}
