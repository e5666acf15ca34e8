import { type Json, webRuntime } from '@grantry/core'
import * as v from 'valibot'

const ivLength = 12
const toText = (data: Uint8Array): string => btoa(String.fromCharCode(...data))
const toBytes = (text: string): Uint8Array<ArrayBuffer> => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))

const secret = v.pipe(v.string('must be a string'), v.minLength(32, 'must have at least 32 characters'))

/** Secrets that encrypt records. */
export const encryptionSecretsSchema = v.pipe(
  v.array(secret, 'must be an array of secrets'),
  v.minLength(1, 'must have at least one secret'),
  v.maxLength(10, 'must have at most 10 secrets'),
)

/**
 * Encrypts values that are stored for years. `kit.seal` is not suitable: after a rotation of the signing keys, such
 * values are unreadable.
 */
export interface Safe {
  /**
   * Include the owner of the record in the value, and compare it after `open`: a record can be moved to another key.
   */
  seal(value: Json): Promise<string>
  /** Returns what any of the secrets has sealed; `undefined` if it was changed, or does not match the schema. */
  open<S extends v.GenericSchema>(sealed: string, schema: S): Promise<v.InferOutput<S> | undefined>
}

/**
 * Creates a safe with AES-256-GCM.
 *
 * @param secrets the first one encrypts, all decrypt
 * @param use the purpose of the keys: each purpose has other keys
 */
export function createSafe(secrets: readonly string[], use: string): Safe {
  const { sha256, randomBytes, encrypt, decrypt } = webRuntime
  const keys = secrets.map((text) => new Uint8Array(sha256(new TextEncoder().encode(`${use}\n${text}`))))
  return {
    async seal(value) {
      const iv = new Uint8Array(randomBytes(ivLength))
      const [key = new Uint8Array()] = keys
      const encrypted = await encrypt(key, iv, new TextEncoder().encode(JSON.stringify(value)))
      return `${toText(iv)}.${toText(encrypted)}`
    },
    async open(sealed, schema) {
      const [iv = '', data = ''] = sealed.split('.')
      for (const key of keys) {
        const text = await Promise.resolve()
          .then(() => decrypt(key, toBytes(iv), toBytes(data)))
          .catch(() => undefined)
        const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), schema), text && new TextDecoder().decode(text))
        if (parsed.success) return parsed.output
      }
      return undefined
    },
  }
}
