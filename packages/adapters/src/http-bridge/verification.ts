import { createHash } from 'node:crypto'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { TlsSettings } from './tls.ts'

/** Decides, once for each connection, whether the chain of the client's certificate is verified. */
export interface Verification {
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

/** Returns what distinguishes the authorities; `undefined` without any. */
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
