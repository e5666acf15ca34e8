import { base64url, decodeBase64url, decodeUtf8, utf8 } from '../encoding.ts'
import type { JsonObject } from '../json.ts'
import type { Runtime } from '../runtime.ts'

const ivLength = 12

/** AES-256-GCM under a key that only the holder of the credential can derive: the store alone cannot read an answer. */
async function keyFor(credential: string, runtime: Runtime): Promise<CryptoKey> {
  // The prefix keeps the key apart from the SHA-256 under which the credential's record is found.
  const raw = new Uint8Array(runtime.sha256(utf8(`grantry replay 1\n${credential}`)))
  return runtime.subtle.importKey('raw', raw, 'AES-GCM', false, ['encrypt', 'decrypt'])
}

/** Encrypts a token response for a retry by the holder of the credential that it answered. */
export async function sealResponse(response: JsonObject, credential: string, runtime: Runtime): Promise<string> {
  const iv = runtime.randomBytes(ivLength)
  const key = await keyFor(credential, runtime)
  const text = utf8(JSON.stringify(response))
  const encrypted = new Uint8Array(await runtime.subtle.encrypt({ name: 'AES-GCM', iv }, key, text))
  const sealed = new Uint8Array(ivLength + encrypted.length)
  sealed.set(iv)
  sealed.set(encrypted, ivLength)
  return base64url(sealed)
}

/** `undefined` where the text was not sealed for this credential. */
export async function openResponse(
  sealed: string,
  credential: string,
  runtime: Runtime,
): Promise<JsonObject | undefined> {
  const bytes = decodeBase64url(sealed)
  if (bytes === undefined || bytes.length <= ivLength) return undefined
  try {
    const key = await keyFor(credential, runtime)
    const iv = bytes.subarray(0, ivLength)
    const text = await runtime.subtle.decrypt({ name: 'AES-GCM', iv }, key, bytes.subarray(ivLength))
    return JSON.parse(decodeUtf8(new Uint8Array(text)) ?? '') as JsonObject
  } catch {
    // A record that was tampered with is no answer; the caller refuses.
    return undefined
  }
}
