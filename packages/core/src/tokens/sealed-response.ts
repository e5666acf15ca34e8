import { utf8 } from '../encoding.ts'
import type { JsonObject } from '../json.ts'
import type { Runtime } from '../runtime.ts'
import { openJson, sealJson } from '../sealed-json.ts'

/** A key that only the holder of the credential can derive: the store alone cannot read an answer. */
const keyFor = (credential: string, runtime: Runtime): Uint8Array<ArrayBuffer> =>
  // The prefix keeps the key apart from the SHA-256 under which the credential's record is found.
  new Uint8Array(runtime.sha256(utf8(`grantry replay 1\n${credential}`)))

/** Encrypts a token response for a retry by the holder of the credential that it answered. */
export const sealResponse = (response: JsonObject, credential: string, runtime: Runtime): Promise<string> =>
  sealJson(response, keyFor(credential, runtime), runtime)

/** `undefined` where the text was not sealed for this credential. */
export const openResponse = (sealed: string, credential: string, runtime: Runtime): Promise<JsonObject | undefined> =>
  openJson(sealed, keyFor(credential, runtime), runtime) as Promise<JsonObject | undefined>
