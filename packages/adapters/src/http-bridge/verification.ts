import type { TLSSocket } from 'node:tls'
import type { TlsSettings } from './tls.ts'

/** Decides, once for each connection, whether the chain of the client's certificate is verified. */
export interface Verification {
  /** Call it at the end of each handshake. */
  handshake(socket: TLSSocket): void
  isVerified(socket: TLSSocket): boolean
  /** Call it when new connections use other settings. */
  update(settings: TlsSettings): void
}

/** On Deno, the certificates whose complete handshake is remembered. */
const maxRemembered = 10_000

/** Deno 2.9.5 reports every resumed session as authorized, even that of a self-signed certificate. */
const authorizesEveryResumption = 'Deno' in globalThis

const isAuthorized = ({ authorized }: TLSSocket): boolean => authorized === true

/** For servers that other code has created. */
export const isVerifiedElsewhere = (socket: TLSSocket): boolean =>
  isAuthorized(socket) && !(authorizesEveryResumption && socket.isSessionReused())

/**
 * Creates the verification of a server. Without `clientAuthorities`, no certificate is verified: Bun 1.4.5 would accept
 * those of public authorities, which sign any name. On Deno, a resumed session counts if the last complete handshake
 * with the same certificate did.
 */
export function createVerification({ clientAuthorities }: TlsSettings): Verification {
  let hasAuthorities = clientAuthorities !== undefined
  const verified = new WeakSet<TLSSocket>()
  const remembered = new Set<string>()

  function remember(id: string, isValid: boolean): void {
    remembered.delete(id)
    if (!isValid) return
    remembered.add(id)
    const [oldest = ''] = remembered
    if (remembered.size > maxRemembered) remembered.delete(oldest)
  }

  /** Whether `authorized` holds, or held when the session began. */
  function holds(socket: TLSSocket): boolean {
    if (!authorizesEveryResumption) return isAuthorized(socket)
    const id = socket.getPeerX509Certificate()?.fingerprint256 ?? ''
    const isValid = isAuthorized(socket) && (!socket.isSessionReused() || remembered.has(id))
    remember(id, isValid)
    return isValid
  }

  return {
    handshake(socket) {
      if (hasAuthorities && holds(socket)) verified.add(socket)
    },
    isVerified: (socket) => verified.has(socket),
    update(settings) {
      hasAuthorities = settings.clientAuthorities !== undefined
      remembered.clear()
    },
  }
}
