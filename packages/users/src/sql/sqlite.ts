import { accessSync, constants, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { explainSqliteError, loadEngine, type SqliteConnection, sqliteCode } from '@grantry/storage-drivers/clients'
import { type Dialect, quoted, type SqlClient, type TextRow } from './sql-client.ts'
import type { SqlUsersOptions } from './sql-options.ts'

const dialect: Dialect = {
  text: (column) => `CAST(${quoted(column)} AS TEXT)`,
  equals: (column) => `${quoted(column)} = ?`,
  sameName: (column, caseSensitive) => `${quoted(column)} = ? COLLATE ${caseSensitive ? 'BINARY' : 'NOCASE'}`,
  parameter: () => '?',
}

/** Milliseconds until the next attempt while another process has the lock. */
const retryPause = 5

const identityOf = (file: string): string | undefined => {
  const stats = statSync(file, { throwIfNoEntry: false })
  return stats?.isFile() ? `${stats.dev}:${stats.ino}` : undefined
}

/** Keeps a connection to the file, and opens it again when another file has its path. */
function createConnection(file: string) {
  let current: { readonly connection: SqliteConnection; readonly identity: string } | undefined

  function close(): void {
    current?.connection.close()
    current = undefined
  }

  return {
    close,
    get(): SqliteConnection {
      const identity = identityOf(file)
      // SQLite would create a missing file.
      if (identity === undefined) throw new Error(`users.file: ${file} does not exist; set the path of a SQLite file`)
      if (current !== undefined && current.identity !== identity) close()
      if (current === undefined) {
        const connection = loadEngine()(file)
        // A wait in SQLite would block the event loop.
        connection.all('PRAGMA busy_timeout = 0')
        current = { connection, identity }
      }
      return current.connection
    },
  }
}

/** Opens a SQLite file on demand. It must exist. */
export function sqliteClient(options: SqlUsersOptions & { readonly file: string }): SqlClient {
  const file = resolve(options.file)
  const table = quoted(options.table)
  const connection = createConnection(file)

  function explain(error: unknown): Error {
    const isOwn = error instanceof Error && /^users\.|^storage: this runtime/u.test(error.message)
    const message = isOwn
      ? error.message.replace(/^storage: /u, 'users.file: ')
      : `users.file: ${explainSqliteError(error, file)}`
    return new Error(message)
  }

  /** Repeats until the file is not locked. */
  async function perform<T>(step: (connection: SqliteConnection) => T): Promise<T> {
    const end = performance.now() + options.operationTimeout * 1000
    for (;;) {
      try {
        return step(connection.get())
      } catch (error) {
        if (sqliteCode(error) !== 'BUSY') {
          connection.close()
          throw explain(error)
        }
        if (performance.now() > end) throw explain(error)
      }
      await new Promise((done) => setTimeout(done, retryPause))
    }
  }

  const textOf = (value: unknown): string | null => (value === null || value === undefined ? null : String(value))
  const read = (text: string, values: readonly string[]): Promise<readonly TextRow[]> =>
    perform((open) => open.all(text, ...values).map((row) => Object.values(row).map(textOf)))

  return {
    table,
    dialect,
    read,
    rowsOf: ({ oneRow }, sub) => read(oneRow, [sub]),
    returning: read,
    write: (text, values) => perform((open) => open.run(text, ...values)),
    async columns() {
      const rows = await read('SELECT name FROM pragma_table_xinfo(?)', [options.table])
      return rows.length === 0 ? undefined : rows.map(([name]) => ({ name: name ?? '' }))
    },
    usesIndex: (text, values) =>
      perform(() => {
        // libsql does not end this statement, and while one is open, later reads keep their lock on the file.
        const separate = loadEngine()(file)
        try {
          const rows = separate.all(`EXPLAIN QUERY PLAN ${text}`, ...values)
          return !rows.some(({ detail }) => /^SCAN /u.test(String(detail)))
        } finally {
          separate.close()
        }
      }),
    async mayWrite() {
      try {
        accessSync(file, constants.R_OK | constants.W_OK)
        return true
      } catch {
        return false
      }
    },
    indexFor: (column, caseSensitive) =>
      `CREATE UNIQUE INDEX "users_by_name" ON ${table} (${quoted(column)} COLLATE ${caseSensitive ? 'BINARY' : 'NOCASE'})`,
    close: () => connection.close(),
  }
}
