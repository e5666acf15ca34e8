import { BlockList, isIP, type Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { unmapped } from './client-address.ts'
import { isVerifiedElsewhere } from './tls.ts'

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

// Envoy writes these names of the client's certificate without quotes, although they can contain any characters: an
// attacker could use them to add an element with the certificate of another client.
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

/** The certificate with which a client has proved its key in the TLS handshake. */
interface ClientCertificate {
  /** The base64 text of its DER. */
  readonly der: string
  /** Whether the TLS server has verified its chain. */
  readonly verified: boolean
}

/** The header in which your proxy passes the certificate of the client. */
export interface CertificateHeader {
  /** The name of the header. The proxy must remove it from the requests that it receives. */
  readonly header: string
  /**
   * `pem`: URL-encoded, as in `$ssl_client_escaped_cert` of nginx. `der`: the base64 of the DER, as in
   * `X-Forwarded-Tls-Client-Cert` of Traefik, and `%[ssl_c_der,base64]` of HAProxy. `xfcc`: `X-Forwarded-Client-Cert` of
   * Envoy. `rfc9440`: `Client-Cert` of RFC 9440.
   */
  readonly format: CertificateFormat
  /**
   * The addresses and networks (`10.0.0.0/8`) of the proxies. From other addresses, the header is ignored. From these,
   * only the header is read, because the certificate of the TLS connection is that of the proxy.
   */
  readonly proxies: readonly string[]
  /** Whether the proxy passes only certificates whose chain it has verified. Default: `false`. */
  readonly verified?: boolean | undefined
  /** The element of `X-Forwarded-Client-Cert`, counted from the right. Default 1: the last one. */
  readonly position?: number | undefined
}

/** Returns the certificate of a request; `undefined` if there is none, or none that is trusted. */
export type ReadCertificate = (
  headerOf: (name: string) => string | null | undefined,
  remoteAddress: string | undefined,
  socket?: Socket,
) => ClientCertificate | undefined

function addressList(proxies: readonly string[]): BlockList {
  const list = new BlockList()
  for (const proxy of proxies) {
    const [address = '', length, ...more] = String(proxy).split('/')
    const version = isIP(address)
    const bits = version === 4 ? 32 : 128
    const prefix = length === undefined ? bits : /^\d{1,3}$/u.test(length) ? Number(length) : -1
    if (version === 0 || prefix < 0 || prefix > bits || more.length > 0) {
      throw new TypeError(`clientCertificate.proxies: ${proxy} is not an IP address or a network such as 10.0.0.0/8`)
    }
    list.addSubnet(address, prefix, version === 4 ? 'ipv4' : 'ipv6')
  }
  return list
}

/**
 * @param isVerified whether the TLS server has verified the certificate of a connection
 * @throws TypeError when the option is invalid.
 */
export function createReadCertificate(
  option: CertificateHeader | undefined,
  isVerified: (socket: TLSSocket) => boolean = isVerifiedElsewhere,
): ReadCertificate {
  /** Reads the certificate of a connection to `node:https` or `node:http2`. */
  function certificateOf(connection: Socket | undefined): ClientCertificate | undefined {
    const socket = connection as TLSSocket | undefined
    const certificate = socket?.getPeerX509Certificate?.()
    return certificate && { der: certificate.raw.toString('base64'), verified: isVerified(socket as TLSSocket) }
  }

  if (option === undefined) return (_headerOf, _remoteAddress, socket) => certificateOf(socket)
  const { header, format, proxies, verified = false, position = 1 } = option
  if (typeof header !== 'string' || !/^[\w-]+$/u.test(header)) {
    throw new TypeError('clientCertificate.header must be the name of a header')
  }
  if (!certificateFormats.includes(format)) {
    throw new TypeError(`clientCertificate.format must be ${certificateFormats.join(' or ')}`)
  }
  if (!Array.isArray(proxies) || proxies.length === 0) {
    throw new TypeError('clientCertificate.proxies must be the addresses of your proxies')
  }
  if (!Number.isSafeInteger(position) || position < 1) {
    throw new TypeError('clientCertificate.position must be a whole number of at least 1')
  }
  const name = header.toLowerCase()
  const trusted = addressList(proxies)

  return (headerOf, remoteAddress, socket) => {
    const address = unmapped(remoteAddress ?? '')
    const version = isIP(address)
    if (version === 0 || !trusted.check(address, version === 4 ? 'ipv4' : 'ipv6')) return certificateOf(socket)
    const value = headerOf(name)
    const der = typeof value === 'string' ? certificateIn(value, format, position) : undefined
    return der === undefined ? undefined : { der, verified: verified === true }
  }
}
