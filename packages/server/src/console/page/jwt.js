/**
 * @typedef {object} DecodedJwt
 * @property {Record<string, unknown>} header
 * @property {Record<string, unknown>} claims
 */

/** @param {string} part */
function decodePart(part) {
  const bytes = Uint8Array.from(atob(part.replaceAll('-', '+').replaceAll('_', '/')), (character) =>
    character.charCodeAt(0),
  )
  const value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new TypeError('It is no JSON object')
  return value
}

/**
 * Header and claims of a JWT; the signature is not checked here, but by the server that is asked. `undefined` for what is no JWT.
 *
 * @param {string} token
 * @returns {DecodedJwt | undefined}
 */
export function decodeJwt(token) {
  const [header = '', claims = '', signature, more] = token.split('.')
  if (signature === undefined || more !== undefined) return undefined
  try {
    return { header: decodePart(header), claims: decodePart(claims) }
  } catch {
    // Two dots do not make a JWT.
    return undefined
  }
}

/**
 * The first 8 hex digits of its SHA-256: how the server's events name a token without giving it away. `undefined` where the browser does not hash:
 * on http, under another name than this machine's.
 *
 * @param {string} token
 */
export async function fingerprintOf(token) {
  if (!isSecureContext) return undefined
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(token))
  return [...new Uint8Array(digest, 0, 4)].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}
