import { constants, createHash, createPrivateKey, X509Certificate } from 'node:crypto'
import type { Socket } from 'node:net'
import type { SecureContextOptions, TLSSocket, TlsOptions } from 'node:tls'

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
  /** The authorities whose certificates count as verified. Without this option, no certificate does. */
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

const certificateForm = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/gu

/** Parses the certificates in a text. @throws TypeError if there is none, or one is incomplete */
function certificatesIn(text: string, name: 'certificate' | 'clientAuthorities'): readonly X509Certificate[] {
  const blocks = text.match(certificateForm) ?? []
  // Node.js ignores an empty text, such as that of a file which is being written, and uses a default instead.
  if (blocks.length === 0 || text.split('-----BEGIN CERTIFICATE-----').length - 1 !== blocks.length) {
    throw new TypeError(`tls.${name} must be certificates in PEM`)
  }
  return blocks.map((block) => new X509Certificate(block))
}

/**
 * Checks settings. Node.js accepts some that no client can use, and Deno 2.9.5 all: between the writes of a new
 * certificate and of its key, the server would refuse every connection.
 *
 * @throws TypeError if a text is not PEM, or the key is not that of the certificate; the error of the runtime if it
 * cannot parse a text.
 */
export function checkTls({ certificate, key, clientAuthorities }: TlsSettings): void {
  const [leaf] = certificatesIn(certificate, 'certificate')
  if (!key.includes('-----BEGIN ')) throw new TypeError('tls.key must be PEM')
  if (!leaf?.checkPrivateKey(createPrivateKey(key))) throw new TypeError('tls.key must be the key of the certificate')
  if (clientAuthorities !== undefined) certificatesIn(clientAuthorities, 'clientAuthorities')
}

/**
 * Returns the options of a secure context, which a running server can replace.
 *
 * @throws TypeError as `checkTls` does
 */
export function secureContextOf(settings: TlsSettings): SecureContextOptions {
  checkTls(settings)
  const { certificate, key, clientAuthorities } = settings
  return {
    cert: certificate,
    key,
    // An empty list, because Node.js would otherwise trust the public authorities, which sign any name.
    ca: clientAuthorities ?? [],
    minVersion: 'TLSv1.2',
    ciphers,
    // A client must not replace its certificate within a connection.
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
  }
}

/**
 * Returns the options of a server.
 *
 * @throws TypeError as `checkTls` does
 */
export const tlsOptionsOf = (settings: TlsSettings): TlsOptions => ({
  ...secureContextOf(settings),
  ALPNProtocols: ['http/1.1'],
  requestCert: settings.requestCertificates === true,
  // The provider decides about the certificate, so that clients without one can connect, too.
  rejectUnauthorized: false,
})

/** Decides, once for each connection, whether the chain of the client's certificate is verified. */
interface Verification {
  /** Call it for each new connection, before the handshake. */
  begin(socket: Socket): void
  /** Call it at the end of each handshake. */
  handshake(socket: TLSSocket): void
  isVerified(socket: TLSSocket): boolean
  /** Call it when new connections use other settings. */
  update(settings: TlsSettings): void
}

/** Deno 2.9.5 reports every resumed session as authorized, even that of a self-signed certificate. */
const authorizesEveryResumption = 'Deno' in globalThis

const isAuthorized = ({ authorized }: TLSSocket): boolean => authorized === true

/** For servers that other code has created. */
export const isVerifiedElsewhere = (socket: TLSSocket): boolean =>
  isAuthorized(socket) && !(authorizesEveryResumption && socket.isSessionReused())

/** About 10 MB of text. */
const maxRemembered = 100_000

/**
 * On Deno, the certificates that a complete handshake has verified, each with its authorities. All servers of the process
 * share it, as they share the sessions.
 */
const remembered = new Set<string>()

function remember(id: string, isValid: boolean): void {
  remembered.delete(id)
  if (!isValid) return
  remembered.add(id)
  const [oldest = ''] = remembered
  if (remembered.size > maxRemembered) remembered.delete(oldest)
}

/** Whether `authorized` holds, or held when the session began. */
function holds(socket: TLSSocket, authorities: string): boolean {
  if (!authorizesEveryResumption) return isAuthorized(socket)
  const id = `${socket.getPeerX509Certificate()?.fingerprint256} ${authorities}`
  const isValid = isAuthorized(socket) && (!socket.isSessionReused() || remembered.has(id))
  remember(id, isValid)
  return isValid
}

/** Returns an id of the authorities; `undefined` without any. */
const idOf = ({ clientAuthorities }: TlsSettings): string | undefined =>
  clientAuthorities === undefined ? undefined : createHash('sha256').update(clientAuthorities).digest('base64')

const addressOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`

/**
 * Creates the verification of a server. Without `clientAuthorities`, no certificate is verified: Bun 1.4.5 would accept
 * those of public authorities, which sign any name. A handshake that began with other authorities verifies nothing.
 */
export function createVerification(settings: TlsSettings): Verification {
  let current = { authorities: idOf(settings) }
  /** The authorities with which each handshake began, by the address of the client. */
  const begun = new Map<string, typeof current>()
  const verified = new WeakSet<TLSSocket>()

  return {
    begin(socket) {
      const address = addressOf(socket)
      begun.set(address, current)
      socket.once('close', () => begun.delete(address))
    },
    handshake(socket) {
      const address = addressOf(socket)
      const { authorities } = current
      if (begun.get(address) === current && authorities !== undefined && holds(socket, authorities)) {
        verified.add(socket)
      }
      begun.delete(address)
    },
    isVerified: (socket) => verified.has(socket),
    update(changed) {
      const authorities = idOf(changed)
      if (authorities !== current.authorities) current = { authorities }
    },
  }
}
