import { EncryptJWT, type JWTPayload, jwtDecrypt } from 'jose'

/** Seals values into text that only this application can read, and only for the same purpose. */
export interface Seals {
  /** @param expiresAt epoch seconds */
  seal(value: JWTPayload, expiresAt: number): Promise<string>
  /** Returns `undefined` for what has expired, was changed, or was sealed by another application or for another purpose. */
  open(text: string): Promise<JWTPayload | undefined>
}

async function keyOf(secret: string, context: string): Promise<Uint8Array> {
  const bytes = new TextEncoder()
  const material = await crypto.subtle.importKey('raw', bytes.encode(secret), 'HKDF', false, ['deriveBits'])
  const parameters = { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(), info: bytes.encode(context) }
  return new Uint8Array(await crypto.subtle.deriveBits(parameters, material, 256))
}

/**
 * Creates seals of AES-256-GCM, as JWE (RFC 7516).
 *
 * @param secrets the first seals, all open
 * @param context the names of the application and the purpose: each purpose has keys of its own (RFC 5869)
 */
export function createSeals(secrets: readonly string[], context: readonly string[]): Seals {
  let keys: readonly Promise<Uint8Array>[] | undefined
  const loaded = (): readonly Promise<Uint8Array>[] => {
    keys ??= secrets.map((secret) => keyOf(secret, JSON.stringify(context)))
    return keys
  }
  return {
    async seal(value, expiresAt) {
      const key = await (loaded()[0] as Promise<Uint8Array>)
      return new EncryptJWT(value)
        .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
        .setExpirationTime(expiresAt)
        .encrypt(key)
    },
    async open(text) {
      for (const key of loaded()) {
        const options = { keyManagementAlgorithms: ['dir'], contentEncryptionAlgorithms: ['A256GCM'] }
        const payload = await jwtDecrypt(text, await key, { ...options, requiredClaims: ['exp'] }).then(
          (opened) => opened.payload,
          () => undefined,
        )
        if (payload !== undefined) return payload
      }
      return undefined
    },
  }
}
