import { encodeBase64url, sha256Base64url } from './base64url.js'

/**
 * A key that tokens are bound to (RFC 9449).
 *
 * @typedef {object} DpopKey
 * @property {Record<string, string>} jwk the public key
 * @property {string} thumbprint of the public key (RFC 7638), in tokens `cnf.jkt`
 * @property {string | undefined} nonce the latest nonce of the server
 * @property {(request: ProvedRequest) => Promise<string>} prove signs a proof, which the server accepts once
 *
 * @typedef {object} ProvedRequest
 * @property {string} method
 * @property {string} path
 * @property {string | undefined} accessToken the token that the request presents
 */

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }

/** @param {object} value */
const encodePart = (value) => encodeBase64url(new TextEncoder().encode(JSON.stringify(value)))

/** Milliseconds by which the clock of the server is ahead of that of this device. */
let ahead = 0

/**
 * Compares the clocks: the server refuses a proof from another time (RFC 9449 section 11.1), and many devices have a wrong
 * clock.
 *
 * @param {Response} response
 */
export function compareClocks({ headers }) {
  const difference = Date.parse(headers.get('date') ?? '') - Date.now()
  // The header has whole seconds, and the response took a moment.
  ahead = Math.abs(difference) > 5000 ? difference : 0
}

/** Creates a key whose private part cannot be exported. Only in a secure context. */
export const createKeyPair = () => crypto.subtle.generateKey(algorithm, false, ['sign'])

/**
 * Creates the signer of proofs.
 *
 * @param {string} issuer a proof names the URL under the issuer, also if the page was opened through a tunnel
 * @param {CryptoKeyPair} [pair] Default: a new key, which stays in the memory of the page
 * @returns {Promise<DpopKey>}
 */
export async function createDpopKey(issuer, pair) {
  const { privateKey, publicKey } = pair ?? (await createKeyPair())
  const { crv = '', kty = '', x = '', y = '' } = await crypto.subtle.exportKey('jwk', publicKey)
  // Members and order of the thumbprint (RFC 7638 section 3.2).
  const jwk = { crv, kty, x, y }
  const header = encodePart({ typ: 'dpop+jwt', alg: 'ES256', jwk })
  /** @type {DpopKey} */
  const key = {
    jwk,
    thumbprint: await sha256Base64url(JSON.stringify(jwk)),
    nonce: undefined,

    async prove({ method, path, accessToken }) {
      const claims = encodePart({
        jti: encodeBase64url(crypto.getRandomValues(new Uint8Array(16))),
        htm: method,
        htu: new URL(path, issuer).href,
        iat: Math.floor((Date.now() + ahead) / 1000),
        ...(accessToken !== undefined && { ath: await sha256Base64url(accessToken) }),
        ...(key.nonce !== undefined && { nonce: key.nonce }),
      })
      const signed = new TextEncoder().encode(`${header}.${claims}`)
      const signature = await crypto.subtle.sign(algorithm, privateKey, signed)
      return `${header}.${claims}.${encodeBase64url(new Uint8Array(signature))}`
    },
  }
  return key
}
