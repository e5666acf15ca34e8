/** The address of a PostgreSQL database, and the credentials for it. */
export interface Address {
  /** A host name, an IP address, or the directory of a Unix socket. */
  readonly host: string
  readonly port: number
  readonly database: string
  readonly user: string
  readonly password?: string | undefined
  readonly tls: boolean
}

/** Returns the address for messages, without the password. */
export function nameOf({ host, port, database }: Pick<Address, 'host' | 'port' | 'database'>): string {
  const name = host.includes(':') ? `[${host}]` : host
  return `PostgreSQL at ${name}:${port}, database "${database}"`
}

const expectedForm = 'postgresql://user[:password]@host[:port]/database[?sslmode=verify-full]'

/** The values of `sslmode`. Those that would accept any certificate, or none, are not supported. */
const tlsOf: ReadonlyMap<string | null, boolean> = new Map([
  [null, false],
  ['disable', false],
  ['require', true],
  ['verify-ca', true],
  ['verify-full', true],
])

const parameters = ['sslmode', 'host']

function parse(url: string): Address | undefined {
  const { protocol, hostname, port, username, password, pathname, searchParams, hash } = new URL(url)
  const database = decodeURIComponent(pathname.slice(1))
  const socket = searchParams.get('host')
  const host = socket ?? decodeURIComponent(hostname.replace(/^\[|\]$/gu, ''))
  const tls = tlsOf.get(searchParams.get('sslmode'))
  const isSupported =
    ['postgresql:', 'postgres:'].includes(protocol) &&
    [...searchParams.keys()].every((name) => parameters.includes(name) && searchParams.getAll(name).length === 1) &&
    (socket === null || (socket.startsWith('/') && tls === false))
  if (!isSupported || tls === undefined || hash !== '') return undefined
  if (host === '' || username === '' || database === '' || /[/\0]/u.test(database)) return undefined
  return {
    host,
    port: port === '' ? 5432 : Number(port),
    database,
    user: decodeURIComponent(username),
    tls,
    ...(password !== '' && { password: decodeURIComponent(password) }),
  }
}

/**
 * @param caller begins the error
 * @throws TypeError that does not quote the URL, which may contain a password.
 */
export function parseAddress(url: string, caller = 'postgresqlDriver()'): Address {
  let address: Address | undefined
  try {
    address = parse(url)
  } catch {
    // Replaced by the error below: the error of URL() quotes the URL.
  }
  if (address === undefined) {
    throw new TypeError(
      `${caller}: the url does not have the form ${expectedForm}; sslmode is disable, require, verify-ca or verify-full, and host=/directory (of a Unix socket) is the only other parameter; percent-encode special characters of the user and the password`,
    )
  }
  return address
}
