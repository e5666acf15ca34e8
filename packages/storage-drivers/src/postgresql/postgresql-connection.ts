import { Socket } from 'node:net'
import { checkServerIdentity } from 'node:tls'
import type pg from 'pg'
import { ofReplica } from './errors.ts'
import type { PoolSettings } from './postgresql-options.ts'

/** A statement of the driver. */
export interface Statement {
  /** Name of the prepared statement, unique for its text. Empty for a script without parameters. */
  readonly name: string
  readonly text: string
}

export type Row = readonly (string | null)[]

/** Rows as text: the driver reads few types. */
export interface Result {
  readonly rows: readonly Row[]
  /** Number of rows that were written or read. */
  readonly count: number
}

/** A connection, which performs one statement at a time. */
export interface Connection {
  /** Performs a statement with parameters, or all statements of a script in one transaction. */
  send(statement: Statement, values: readonly unknown[], done: (error: unknown, result?: Result) => void): void
  /** Closes the socket without waiting for the server. */
  destroy(): void
}

const asText = { getTypeParser: () => (text: string) => text }

/** The error of the function could contain the password. */
async function passwordOf(read: () => string | Promise<string>): Promise<string> {
  try {
    return await read()
  } catch {
    throw new Error('the function connection.password failed')
  }
}

/**
 * Loads `pg` with the first connection: a program whose users are in SQLite imports this file, and need not have it.
 *
 * @throws Error that names the package, if it is not installed
 */
async function loadPg(): Promise<typeof pg> {
  const missing = 'PostgreSQL needs the package pg, which is not installed: npm install pg'
  let loaded: { readonly default?: Partial<typeof pg> }
  // With `try`, bundlers build a program without it.
  try {
    loaded = await import('pg')
  } catch (cause) {
    const { code } = (cause ?? {}) as { readonly code?: unknown }
    throw code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND' ? new Error(missing, { cause }) : cause
  }
  // A bundler can put an empty module in its place.
  if (typeof loaded.default?.Client !== 'function') throw new Error(missing)
  return loaded.default as typeof pg
}

/** `pg` reads the variables PG* and ~/.pgpass for options that are absent or empty. */
function clientOf({ Client }: typeof pg, settings: PoolSettings, stream: Socket): pg.Client {
  const { address, connection, timeout, preparedStatements } = settings
  const { host, port, database, user, tls } = address
  const password = connection.password ?? address.password ?? ''
  return new Client({
    host,
    port,
    database,
    user,
    password: typeof password === 'function' ? () => passwordOf(password) : () => password,
    ssl:
      tls || connection.tls !== undefined
        ? {
            ...connection.tls,
            rejectUnauthorized: true,
            // Some versions of pg verify the name localhost instead of an IP address.
            checkServerIdentity: (_, certificate) => checkServerIdentity(host, certificate),
          }
        : false,
    stream: () => stream,
    application_name: 'grantry',
    client_encoding: 'UTF8',
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    connectionTimeoutMillis: timeout,
    // PgBouncer refuses these parameters. The time limit ends a statement that no caller waits for any more. A plan is
    // never made again for each call, and never reads the whole table: such a plan, made while the table was small,
    // would stay until the next ANALYZE, a minute in which the table can grow a thousandfold. Planning each call would
    // take as long as the call.
    ...(preparedStatements && {
      statement_timeout: timeout,
      options: '-c enable_seqscan=off -c plan_cache_mode=force_generic_plan',
    }),
  })
}

/** @param onClose called when the connection is lost, once, but not if this function rejects */
export async function connect(settings: PoolSettings, onClose: () => void): Promise<Connection> {
  const loaded = await loadPg()
  const socket = new Socket()
  const client = clientOf(loaded, settings, socket)
  // Without a listener, a lost connection ends the process. The statement in progress is rejected separately.
  client.on('error', () => {})
  try {
    await client.connect()
  } catch (error) {
    socket.destroy()
    throw error
  }
  client.once('end', onClose)
  return {
    send({ name, text }, values, done) {
      const settle = (error: unknown, { rows = [], rowCount }: Partial<pg.QueryArrayResult> = {}): void => {
        if (error) done(ofReplica(error))
        else done(undefined, { rows, count: rowCount ?? 0 })
      }
      if (name === '') client.query(text, settle as never)
      else {
        const named = settings.preparedStatements ? { name } : {}
        client.query({ ...named, text, values: [...values], rowMode: 'array', types: asText }, settle)
      }
    },
    destroy: () => void socket.destroy(),
  }
}
