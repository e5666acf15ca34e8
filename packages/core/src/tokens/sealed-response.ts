import { decodeBase64url, decodeUtf8, utf8 } from '../encoding.ts'
import type { JsonObject } from '../json.ts'
import type { Runtime } from '../runtime.ts'

const ivLength = 12

/** AES-256-GCM under a key that only the holder of the credential can derive: the store alone cannot read an answer. */
const keyFor = (credential: string, runtime: Runtime): Uint8Array<ArrayBuffer> =>
  // The prefix keeps the key apart from the SHA-256 under which the credential's record is found.
  new Uint8Array(runtime.sha256(utf8(`grantry replay 1\n${credential}`)))

/** Encrypts a token response for a retry by the holder of the credential that it answered. */
export async function sealResponse(response: JsonObject, credential: string, runtime: Runtime): Promise<string> {
  const iv = runtime.randomBytes(ivLength)
  const encrypted = await runtime.encrypt(keyFor(credential, runtime), iv, utf8(JSON.stringify(response)))
  const sealed = new Uint8Array(ivLength + encrypted.length)
  sealed.set(iv)
  sealed.set(encrypted, ivLength)
  return runtime.base64url(sealed)
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
    const iv = bytes.subarray(0, ivLength)
    const text = await runtime.decrypt(keyFor(credential, runtime), iv, bytes.subarray(ivLength))
    return JSON.parse(decodeUtf8(text) ?? '') as JsonObject
  } catch {
    // A record that was tampered with is no answer; the caller refuses.
    return undefined
  }
}
