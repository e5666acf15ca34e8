import type { ConnectionOptions as TlsOptions } from 'node:tls'
import { type Address, parseAddress } from './address.ts'

/** Settings of the connections that the URL does not contain. */
export interface PostgresqlConnectionOptions {
  /** Replaces the password of the URL. A function is called for each new connection, for passwords that expire. */
  readonly password?: string | (() => string | Promise<string>) | undefined
  /** Turns TLS on, with a private authority or a client certificate. The server's certificate is always verified. */
  readonly tls?: Readonly<Pick<TlsOptions, 'ca' | 'cert' | 'key' | 'passphrase'>> | undefined
}

export interface PostgresqlDriverOptions {
  /**
   * `postgresql://user:password@host:5432/database`, with `?sslmode=verify-full` for TLS. The name of the certificate
   * is verified with every `sslmode` other than `disable`.
   */
  readonly url: string
  readonly connection?: PostgresqlConnectionOptions | undefined
  /** The schema of the table. Default: `public`. */
  readonly schema?: string | undefined
  /** Prefix of the table's name, `<prefix>_items`. Default: `grantry`. */
  readonly prefix?: string | undefined
  /** Maximum number of connections of this process. Default: 10. */
  readonly maxConnections?: number | undefined
  /** Time limit of an operation, in seconds, including the time to connect. Default: 2. */
  readonly operationTimeout?: number | undefined
  /** Default: true. Set it to false behind a PgBouncer that does not support prepared statements. */
  readonly preparedStatements?: boolean | undefined
  /** Whether `open()` creates the table. Default: true. */
  readonly migrate?: boolean | undefined
  /**
   * `full`, the default: `open()` rejects if the server can lose a confirmed write in a crash. `relaxed`: it can, so a
   * code could be redeemed again after a crash.
   */
  readonly durability?: 'full' | 'relaxed' | undefined
}

/** The schema of the table, and the prefix of its name. */
export interface TableLocation {
  readonly schema: string
  readonly prefix: string
}

/** The settings of the connections. */
export interface PoolSettings {
  readonly address: Address
  readonly connection: PostgresqlConnectionOptions
  readonly maxConnections: number
  /** Milliseconds. */
  readonly timeout: number
  readonly preparedStatements: boolean
}

/** The options with defaults applied. */
export interface PostgresqlSettings extends PoolSettings, TableLocation {
  readonly migrate: boolean
  readonly durability: 'full' | 'relaxed'
}

// An identifier of PostgreSQL has 63 bytes at most, and the names of the table and its index are longer than the prefix.
const identifier = /^[a-z_][a-z0-9_]{0,39}$/u

function assertIdentifier(name: string, value: string): void {
  if (typeof value === 'string' && identifier.test(value)) return
  throw new TypeError(
    `postgresqlDriver(): ${name} must be 1 to 40 lower-case letters, digits and _, and not begin with a digit`,
  )
}

/** @throws TypeError when the schema or the prefix is invalid. */
export function parseLocation({
  schema = 'public',
  prefix = 'grantry',
}: {
  readonly schema?: string | undefined
  readonly prefix?: string | undefined
}): TableLocation {
  assertIdentifier('schema', schema)
  assertIdentifier('prefix', prefix)
  return { schema, prefix }
}

function assertBoolean(name: string, value: boolean): void {
  if (typeof value !== 'boolean') throw new TypeError(`postgresqlDriver(): ${name} must be true or false`)
}

/** @throws TypeError when an option is invalid. */
export function parseOptions(options: PostgresqlDriverOptions): PostgresqlSettings {
  const { maxConnections = 10, operationTimeout = 2, durability = 'full', connection = {} } = options
  const { preparedStatements = true, migrate = true } = options
  const location = parseLocation(options)
  const address = parseAddress(options.url)
  if (!(Number.isInteger(maxConnections) && maxConnections >= 1 && maxConnections <= 1000))
    throw new TypeError('postgresqlDriver(): maxConnections must be a whole number, 1 to 1000')
  if (!(operationTimeout >= 0.01 && operationTimeout <= 3600))
    throw new TypeError('postgresqlDriver(): operationTimeout must be 0.01 to 3600 seconds')
  if (durability !== 'full' && durability !== 'relaxed')
    throw new TypeError('postgresqlDriver(): durability must be full or relaxed')
  assertBoolean('preparedStatements', preparedStatements)
  assertBoolean('migrate', migrate)
  return {
    ...location,
    address,
    connection,
    maxConnections,
    timeout: Math.ceil(operationTimeout * 1000),
    preparedStatements,
    migrate,
    durability,
  }
}
