/** The address of a Redis server, and the credentials for it. */
export interface Address {
  readonly host: string
  readonly port: number
  readonly username?: string
  readonly password?: string
  readonly db?: number
  readonly tls: boolean
}

/** Returns the address for messages, without the password. */
export const nameOf = ({ host, port }: { readonly host: string; readonly port: number }): string =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`

const expectedForm = 'redis://[[user]:password@]host[:port][/database], or rediss:// for TLS'

function parse(url: string): Address | undefined {
  const { protocol, hostname, port, username, password, pathname, search, hash } = new URL(url)
  const database = /^\/?(\d*)$/u.exec(pathname)?.[1]
  if (!['redis:', 'rediss:'].includes(protocol) || hostname === '' || database === undefined) return undefined
  if (search !== '' || hash !== '') return undefined
  return {
    host: hostname.replace(/^\[|\]$/gu, ''),
    port: port === '' ? 6379 : Number(port),
    tls: protocol === 'rediss:',
    ...(username !== '' && { username: decodeURIComponent(username) }),
    ...(password !== '' && { password: decodeURIComponent(password) }),
    ...(database !== '' && { db: Number(database) }),
  }
}

/** @throws TypeError that does not quote the URL, which may contain a password. */
export function parseAddress(url: string): Address {
  let address: Address | undefined
  try {
    address = parse(url)
  } catch {
    // Replaced by the error below: the error of URL() quotes the URL.
  }
  if (address === undefined) throw new TypeError(`redisDriver(): a URL does not have the form ${expectedForm}`)
  return address
}
