import { decodeBase64url, decodeUtf8, utf8 } from './encoding.ts'
import type { JsonObject } from './json.ts'
import type { Runtime } from './runtime.ts'

const ivLength = 12

/** Encrypts and authenticates with AES-256-GCM under a key of 32 bytes; the IV is random and stands before the rest. */
export async function sealJson(value: JsonObject, key: Uint8Array<ArrayBuffer>, runtime: Runtime): Promise<string> {
  const iv = runtime.randomBytes(ivLength)
  const encrypted = await runtime.encrypt(key, iv, utf8(JSON.stringify(value)))
  const sealed = new Uint8Array(ivLength + encrypted.length)
  sealed.set(iv)
  sealed.set(encrypted, ivLength)
  return runtime.base64url(sealed)
}

/** What was sealed; `undefined` where it was not sealed under this key, or was changed since: the caller refuses. */
export async function openJson(sealed: string, key: Uint8Array<ArrayBuffer>, runtime: Runtime): Promise<unknown> {
  const bytes = decodeBase64url(sealed)
  if (bytes === undefined || bytes.length <= ivLength) return undefined
  try {
    const text = await runtime.decrypt(key, bytes.subarray(0, ivLength), bytes.subarray(ivLength))
    return JSON.parse(decodeUtf8(text) ?? '')
  } catch {
    // Whoever could change it must learn nothing of why.
    return undefined
  }
}
