/** @param {Uint8Array} bytes */
export const encodeBase64url = (bytes) =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')

/** @param {string} text */
export const decodeBase64url = (text) =>
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (character) => character.charCodeAt(0))

/**
 * Returns the SHA-256 of a text. Only in a secure context.
 *
 * @param {string} text
 */
export async function sha256Base64url(text) {
  return encodeBase64url(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))))
}
