import process from 'node:process'
import type { OpenConnection, SqlDatabase, SqliteConnection } from './engine.ts'
import { isInPlace, prepareFile } from './prepare-file.ts'
import { type Statements, schemaVersion } from './sqlite-statements.ts'

export interface DatabaseSettings {
  readonly file: string
  readonly synchronous: 'full' | 'normal'
  readonly statements: Statements
}

/** An open file that has the table. */
export interface OpenDatabase extends SqliteConnection {
  /** Whether its paths still lead to it. */
  isInPlace(): boolean
}

/** Bytes of the write-ahead log that stay allocated. */
const journalSize = 16 * 1024 * 1024

/** Runs `act` in a transaction. Rolls back if it throws. */
export function inTransaction<T>(database: SqlDatabase, kind: 'DEFERRED' | 'IMMEDIATE', act: () => T): T {
  database.run(`BEGIN ${kind}`)
  try {
    const result = act()
    database.run('COMMIT')
    return result
  } catch (error) {
    rollBack(database)
    throw error
  }
}

/** Ends a transaction that has failed. */
export function rollBack(database: SqlDatabase): void {
  try {
    database.run('ROLLBACK')
  } catch {
    // SQLite has rolled back already, as it does when the disk is full. The first error is reported.
  }
}

function configure(database: SqlDatabase, { file, synchronous }: DatabaseSettings): void {
  // A wait in SQLite would block the event loop; the driver waits outside of it.
  database.all('PRAGMA busy_timeout = 0')
  const [row] = database.all('PRAGMA journal_mode = WAL')
  if (row?.journal_mode !== 'wal') {
    throw new Error(`storage: the file system of ${file} does not support a write-ahead log; use a local disk`)
  }
  database.run(`PRAGMA synchronous = ${synchronous}`)
  database.all(`PRAGMA journal_size_limit = ${journalSize}`)
  // On macOS, fsync alone does not flush the cache of the disk.
  if (process.platform === 'darwin' && synchronous === 'full') {
    database.run('PRAGMA fullfsync = 1')
    database.run('PRAGMA checkpoint_fullfsync = 1')
  }
}

/** Creates the table. A transaction also if it exists: it shows that the file can be written. */
function prepareTable(database: SqlDatabase, { file, statements }: DatabaseSettings): void {
  inTransaction(database, 'IMMEDIATE', () => {
    const rows = database.all(`SELECT name FROM pragma_table_info('${statements.table}') ORDER BY name`)
    const columns = rows.map(({ name }) => name).join()
    if (columns === '') for (const statement of statements.schema) database.run(statement)
    const [row] = ['', 'ends,key,value'].includes(columns) ? database.all(statements.version) : []
    if (row?.value === schemaVersion) return
    throw new Error(
      row === undefined
        ? `storage: the table ${statements.table} of ${file} is not Grantry's; set another prefix or another file`
        : `storage: the table ${statements.table} of ${file} has version ${row.value}, and this version of Grantry supports version ${schemaVersion}; use the version that wrote it, or another file`,
    )
  })
}

/**
 * Opens the file, and creates the table if it is missing.
 *
 * @param creates whether to create the file, too
 * @throws Error that says what is wrong, or an error of SQLite, such as that another process has locked the file.
 */
export function openDatabase(engine: () => OpenConnection, settings: DatabaseSettings, creates: boolean): OpenDatabase {
  const identity = prepareFile(settings.file, creates)
  const connection = engine()(identity.path)
  try {
    configure(connection, settings)
    prepareTable(connection, settings)
  } catch (error) {
    connection.close()
    throw error
  }
  return { ...connection, isInPlace: () => isInPlace(identity) }
}
