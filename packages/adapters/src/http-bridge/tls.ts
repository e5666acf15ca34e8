import { constants } from 'node:crypto'
import type { SecureContextOptions, TlsOptions } from 'node:tls'

/** TLS of a server on Node.js. All texts are PEM. */
export interface TlsSettings {
  /** The certificate of the server, followed by those of intermediate authorities. */
  readonly certificate: string
  readonly key: string
  /**
   * Whether to request certificates of clients. Clients can connect with any certificate, or without one. Default:
   * `false`.
   */
  readonly requestCertificates?: boolean | undefined
  /** The authorities whose certificates count as verified. Without it, none do. */
  readonly clientAuthorities?: string | undefined
}

/** RFC 9325 sections 4.2 and 4.3: forward secrecy and authenticated encryption. The first three are those of TLS 1.3. */
const ciphers = [
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
].join(':')

/** Node.js ignores an empty text, such as that of a file which is being written, and uses a default instead. */
function pem(text: string, name: keyof TlsSettings): string {
  if (text.includes('-----BEGIN ')) return text
  throw new TypeError(`tls.${name} is not PEM`)
}

/**
 * Returns the options of a secure context, which a running server can replace.
 *
 * @throws TypeError for a text that is not PEM
 */
export const secureContextOf = ({ certificate, key, clientAuthorities }: TlsSettings): SecureContextOptions => ({
  cert: pem(certificate, 'certificate'),
  key: pem(key, 'key'),
  // An empty list, because Node.js would otherwise trust the public authorities, which sign any name.
  ca: clientAuthorities === undefined ? [] : pem(clientAuthorities, 'clientAuthorities'),
  minVersion: 'TLSv1.2',
  ciphers,
  // A client must not replace its certificate within a connection.
  secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
})

/**
 * Returns the options of a server.
 *
 * @throws TypeError for a text that is not PEM
 */
export const tlsOptionsOf = (settings: TlsSettings): TlsOptions => ({
  ...secureContextOf(settings),
  requestCert: settings.requestCertificates === true,
  // The provider decides about the certificate, so that clients without one can connect, too.
  rejectUnauthorized: false,
})
