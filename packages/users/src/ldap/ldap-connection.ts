import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { type ConnectionOptions, checkServerIdentity, connect as connectTls, type TLSSocket } from 'node:tls'
import { Client } from 'ldapts'

/** The address of a server, and the settings of its connections. */
export interface LdapServer {
  readonly url: string
  readonly startTls: boolean
  /** Authorities in PEM, instead of the public ones. */
  readonly ca?: string | undefined
  /** Milliseconds. */
  readonly timeout: number
}

/** A connection, which performs one operation at a time. */
export interface LdapConnection {
  readonly client: Client
  isOpen(): boolean
  /** Closes the socket without waiting for the server. */
  destroy(): void
}

const hostOf = (url: string): string => new URL(url).hostname.replace(/^\[|\]$/gu, '')

/** The server for messages. */
export function nameOf(url: string): string {
  const { protocol, host } = new URL(url)
  return `the LDAP server ${protocol}//${host}`
}

/**
 * Opens a connection. The client gets one socket only: when a connection is lost, it would open another one by itself
 * and continue without a bind and without STARTTLS, so that it would send passwords in plain text.
 *
 * @throws Error when the server cannot be reached, or its certificate is not valid for its name.
 */
export async function openConnection({ url, startTls, ca, timeout }: LdapServer): Promise<LdapConnection> {
  const host = hostOf(url)
  const tlsOptions: ConnectionOptions = {
    ...(ca !== undefined && { ca }),
    rejectUnauthorized: true,
    // After STARTTLS, Node.js does not know the host. An IP address is no name for SNI.
    ...(isIP(host) === 0 && { servername: host }),
    minVersion: 'TLSv1.2',
    checkServerIdentity: (_, certificate) => checkServerIdentity(host, certificate),
  }
  let raw: Socket | undefined
  let isClosed = false

  /** Keeps the first socket, and refuses another one. */
  const only = <S extends Socket>(create: () => S): S => {
    if (raw !== undefined) throw new Error('the connection was closed')
    const socket = create()
    raw = socket
    socket.setKeepAlive(true, 10_000)
    socket.once('close', () => {
      isClosed = true
    })
    return socket
  }
  const port = Number(new URL(url).port) || (url.toLowerCase().startsWith('ldaps:') ? 636 : 389)
  const secure = (options: unknown): TLSSocket =>
    // STARTTLS passes the socket that it upgrades.
    typeof options === 'object'
      ? connectTls({ ...tlsOptions, ...(options as ConnectionOptions) })
      : only(() => connectTls({ ...tlsOptions, port, host }))
  const client = new Client({
    url,
    timeout,
    connectTimeout: timeout,
    createConnection: (() => only(() => connectTcp({ port, host }))) as typeof connectTcp,
    createSecureConnection: secure as unknown as typeof connectTls,
  })
  const destroy = (): void => {
    isClosed = true
    raw?.destroy()
  }
  try {
    if (startTls) await client.startTLS({ ...tlsOptions })
    return { client, isOpen: () => !isClosed, destroy }
  } catch (error) {
    destroy()
    throw error
  }
}
