/** How a proxy writes the certificate of the client into a header. */
export const certificateFormats = ['pem', 'der', 'xfcc', 'rfc9440'] as const

export type CertificateFormat = (typeof certificateFormats)[number]

/** Returns the base64 in a URL-encoded PEM with one certificate. */
function fromPem(value: string): string | undefined {
  try {
    const pem = /^-----BEGIN CERTIFICATE-----([\w+/=\s]+)-----END CERTIFICATE-----\s*$/u
    return pem.exec(decodeURIComponent(value))?.[1]?.replace(/\s/gu, '')
  } catch {
    // Not URL-encoded.
    return undefined
  }
}

/**
 * Returns the first base64 of a list: Traefik appends the chain that the client has sent. Older releases of it escape the
 * text, and HAProxy can quote it. Headers that are repeated are joined with a space, and refused.
 */
function fromDer(value: string): string | undefined {
  try {
    const list = /^("?)([\w+/]+={0,2})(?:,[\w+/]+={0,2})*\1$/u
    return list.exec(decodeURIComponent(value))?.[2]
  } catch {
    // A malformed escape.
    return undefined
  }
}

const xfccPair = /\s*([A-Za-z]+)=(?:"((?:[^"\\]|\\.)*)"|([^",;]*))([,;]|$)/uy

// Envoy writes these names of the client's certificate without quotes, although they can contain any characters: those
// of an attacker could add an element with the certificate of another client.
const unquotedNames = /^(?:dns|uri)$/iu

/**
 * Returns the elements of `X-Forwarded-Client-Cert`; `undefined` if it is malformed, contains a name that Envoy does not
 * quote, or an element repeats a key. `By` is repeated if the certificate of the proxy has several URIs.
 */
function xfccElements(value: string): readonly ReadonlyMap<string, string>[] | undefined {
  const elements: Map<string, string>[] = [new Map()]
  xfccPair.lastIndex = 0
  for (;;) {
    const match = xfccPair.exec(value)
    const element = elements.at(-1)
    if (match === null || element === undefined) return undefined
    const [, key = '', quoted, plain = '', separator] = match
    if (unquotedNames.test(key) || (element.has(key) && key !== 'By')) return undefined
    element.set(key, quoted?.replace(/\\(.)/gu, '$1') ?? plain)
    if (separator === '') return elements
    if (separator === ',') elements.push(new Map())
  }
}

/**
 * Reads a certificate from a header. Returns the base64 of its DER, or `undefined` if the header is malformed, such as
 * one that is repeated.
 *
 * @param position the element of `X-Forwarded-Client-Cert`, counted from the right
 * @see RFC 9440 section 2.2; Envoy, HTTP header manipulation
 */
export function certificateIn(value: string, format: CertificateFormat, position: number): string | undefined {
  if (format === 'pem') return fromPem(value)
  if (format === 'der') return fromDer(value)
  if (format === 'rfc9440') return /^:([\w+/]+={0,2}):$/u.exec(value)?.[1]
  const certificate = xfccElements(value)?.at(-position)?.get('Cert')
  return certificate === undefined ? undefined : fromPem(certificate)
}
