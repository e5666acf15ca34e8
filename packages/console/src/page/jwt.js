import { decodeBase64url } from './base64url.js'

/**
 * @typedef {object} DecodedJwt
 * @property {Record<string, unknown>} header
 * @property {Record<string, unknown>} claims
 */

/** @param {string} part */
function decodePart(part) {
  const value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(decodeBase64url(part)))
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new TypeError('Not a JSON object')
  return value
}

/**
 * Returns the header and claims of a JWT without verifying its signature; `undefined` if the token is not a JWT.
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
    // Two dots alone do not make a JWT.
    return undefined
  }
}

/**
 * Returns the first 8 hex digits of the SHA-256 of a token, by which events identify it. `undefined` in an insecure
 * context (http on another host than loopback), where browsers offer no hash function.
 *
 * @param {string} token
 */
export async function fingerprintOf(token) {
  if (!isSecureContext) return undefined
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(token))
  return [...new Uint8Array(digest, 0, 4)].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}
