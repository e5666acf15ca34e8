import { BlockList, isIP, type Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { type CertificateFormat, certificateFormats, certificateIn } from './certificate-header.ts'
import { unmapped } from './client-address.ts'
import { isVerifiedElsewhere } from './verification.ts'

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
   * only the header counts: the certificate of the TLS connection is that of the proxy.
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
  function certificateOf(given: Socket | undefined): ClientCertificate | undefined {
    const socket = given as TLSSocket | undefined
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
