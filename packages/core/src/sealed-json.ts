import { type Bytes, decodeBase64url, decodeUtf8, type Runtime, utf8 } from './runtime.ts'
import type { JsonObject } from './types.ts'

const ivLength = 12

/** Encrypts JSON with AES-256-GCM under a key of 32 bytes. The result is base64url and starts with a random IV. */
export async function sealJson(value: JsonObject, key: Bytes, runtime: Runtime): Promise<string> {
  const iv = runtime.randomBytes(ivLength)
  const encrypted = await runtime.encrypt(key, iv, utf8(JSON.stringify(value)))
  const sealed = new Uint8Array(ivLength + encrypted.length)
  sealed.set(iv)
  sealed.set(encrypted, ivLength)
  return runtime.base64url(sealed)
}

/** Decrypts the result of `sealJson`. Returns `undefined` if it was sealed under another key or has been changed. */
export async function openJson(sealed: string, key: Bytes, runtime: Runtime): Promise<unknown> {
  const bytes = decodeBase64url(sealed)
  if (bytes === undefined || bytes.length <= ivLength) return undefined
  try {
    const text = await runtime.decrypt(key, bytes.subarray(0, ivLength), bytes.subarray(ivLength))
    return JSON.parse(decodeUtf8(text) ?? '')
  } catch {
    // A party that can change the text must not learn why decryption failed.
    return undefined
  }
}
