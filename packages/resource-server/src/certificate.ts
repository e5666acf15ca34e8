import { sha256 } from './digest.ts'
import { withTimeout } from './json-fetch.ts'
import type { PresentedRequest } from './presented-request.ts'
import { type Refused, refused } from './refusal.ts'

/**
 * Returns the certificate with which the client has authenticated in TLS: the bytes (DER), or PEM text. Returns
 * `undefined` if it has none. A header may be its source only if a proxy replaces this header in every request.
 */
export type FindCertificate = (
  request: PresentedRequest,
) => Uint8Array | string | undefined | Promise<Uint8Array | string | undefined>

/** Returns the bytes of the first certificate, which is the one of the client. */
function bytesOf(pem: string): Uint8Array<ArrayBuffer> {
  const [, base64] = /-----BEGIN CERTIFICATE-----([^-]+)-----END CERTIFICATE-----/u.exec(pem) ?? []
  if (base64 === undefined) throw new TypeError('The client certificate is not PEM')
  return Uint8Array.from(atob(base64.replace(/\s/gu, '')), (character) => character.charCodeAt(0))
}

/**
 * Checks that the client has authenticated with the certificate of the token.
 *
 * @param thumbprint the member `x5t#S256` of `cnf`
 * @see RFC 8705 section 3
 */
export async function certificateProblem(
  find: FindCertificate,
  request: PresentedRequest,
  thumbprint: string,
  timeout: number,
): Promise<Refused | undefined> {
  try {
    const certificate = await withTimeout(Promise.resolve(find(request)), timeout)
    if (certificate === undefined) return refused('certificate_missing')
    const digest = await sha256(typeof certificate === 'string' ? bytesOf(certificate) : new Uint8Array(certificate))
    return digest === thumbprint ? undefined : refused('wrong_certificate')
  } catch (error) {
    return refused('certificate_unavailable', error)
  }
}
