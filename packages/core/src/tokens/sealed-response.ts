import { utf8 } from '../encoding.ts'
import type { JsonObject } from '../json.ts'
import type { Runtime } from '../runtime.ts'
import { openJson, sealJson } from '../sealed-json.ts'

/** Derives a key from the credential. The storage contains only its hash, so it cannot decrypt a response. */
const keyFor = (credential: string, runtime: Runtime): Uint8Array<ArrayBuffer> =>
  // The prefix makes the key different from the SHA-256 in the key of the credential's record.
  new Uint8Array(runtime.sha256(utf8(`grantry replay 1\n${credential}`)))

/** Encrypts a token response, so that the holder of the redeemed credential can retry. */
export const sealResponse = (response: JsonObject, credential: string, runtime: Runtime): Promise<string> =>
  sealJson(response, keyFor(credential, runtime), runtime)

/** Decrypts a response; returns `undefined` if it was not sealed for this credential. */
export const openResponse = (sealed: string, credential: string, runtime: Runtime): Promise<JsonObject | undefined> =>
  openJson(sealed, keyFor(credential, runtime), runtime) as Promise<JsonObject | undefined>
