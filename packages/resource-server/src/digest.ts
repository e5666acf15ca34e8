import { encode } from 'jose/base64url'

/** Returns the SHA-256 of bytes or text, in base64url. */
export async function sha256(data: string | Uint8Array<ArrayBuffer>): Promise<string> {
  const bytes = typeof data === 'string' ? new TextEncoder().encode(data) : data
  return encode(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)))
}
