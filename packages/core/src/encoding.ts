/** `Uint8Array<ArrayBuffer>`, which Web Crypto requires, for consumers with TypeScript before 5.7 too. */
export type Bytes = ReturnType<Uint8Array['slice']>

const encoder = new TextEncoder()
// ignoreBOM keeps a leading U+FEFF, so two different byte strings never decode to the same text.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export const utf8 = (text: string): Bytes => encoder.encode(text)

/** Decodes UTF-8; returns `undefined` if the bytes are not valid UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes)
  } catch {
    return undefined
  }
}

/** Escapes a text for HTML, also in attributes with quotes. */
export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/gu, (character) => `&#${character.charCodeAt(0)};`)

const hexOfByte = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

export function hex(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += hexOfByte[byte]
  return text
}

const base64urlCodes = encoder.encode('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_')

/**
 * Encodes as unpadded base64url (RFC 4648 section 5). Three times as fast as `btoa` for JWT claims: `btoa` needs a
 * binary string and uses another alphabet.
 */
export function base64url(bytes: Uint8Array): string {
  const codes = new Uint8Array(Math.ceil((bytes.length * 4) / 3))
  let bits = 0
  let held = 0
  let length = 0
  for (let index = 0; index < bytes.length; index += 1) {
    bits = (bits << 8) | (bytes[index] ?? 0)
    held += 8
    while (held >= 6) {
      held -= 6
      codes[length++] = base64urlCodes[(bits >> held) & 63] ?? 0
    }
    bits &= 63
  }
  if (held > 0) codes[length] = base64urlCodes[(bits << (6 - held)) & 63] ?? 0
  return decoder.decode(codes)
}

const base64Form = /^[A-Za-z0-9+/]*={0,2}$/u

/**
 * Decodes padded base64 (RFC 4648 section 4) to a text with one character per byte, or returns `undefined`. Stricter than
 * `atob`, which ignores white space and accepts missing padding.
 */
const binaryIn = (text: string): string | undefined =>
  text.length % 4 === 0 && base64Form.test(text) ? atob(text) : undefined

function bytesOf(binary: string): Bytes {
  const bytes = new Uint8Array(binary.length)
  for (let index = 0; index < binary.length; index += 1) bytes[index] = binary.charCodeAt(index)
  return bytes
}

/** Decodes padded base64 (RFC 4648 section 4), or returns `undefined`. */
export function decodeBase64(text: string): Bytes | undefined {
  const binary = binaryIn(text)
  return binary === undefined ? undefined : bytesOf(binary)
}

const asciiForm = /^[\0-\x7f]*$/u

/** Decodes padded base64 of UTF-8, or returns `undefined`. */
export function decodeBase64Text(text: string): string | undefined {
  const binary = binaryIn(text)
  // In ASCII, each byte is its character: in a third of the time.
  return binary === undefined || asciiForm.test(binary) ? binary : decodeUtf8(bytesOf(binary))
}

const base64urlForm = /^[A-Za-z0-9_-]*$/u

/** Decodes unpadded base64url (RFC 4648 section 5), or returns `undefined`. */
export function decodeBase64url(text: string): Bytes | undefined {
  if (!base64urlForm.test(text) || text.length % 4 === 1) return undefined
  const padded = text
    .replaceAll('-', '+')
    .replaceAll('_', '/')
    .padEnd(Math.ceil(text.length / 4) * 4, '=')
  return decodeBase64(padded)
}
