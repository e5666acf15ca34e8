import { encodeBase64url, sha256Base64url } from './base64url.js'

/** Creates a verifier and its S256 challenge (RFC 7636 section 4). Redeeming the code requires the verifier. */
export async function createProofKey() {
  const verifier = encodeBase64url(crypto.getRandomValues(new Uint8Array(32)))
  return { verifier, challenge: await sha256Base64url(verifier) }
}
