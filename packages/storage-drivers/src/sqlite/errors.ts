/** The reason of a failed statement, by the name of its result code without `SQLITE_`. */
export type SqliteCode = 'BUSY' | 'READONLY' | 'IOERR' | 'CORRUPT' | 'FULL' | 'CANTOPEN' | 'NOTADB' | 'PROTOCOL'

const codes: readonly (readonly [code: SqliteCode, result: number, message: string])[] = [
  ['BUSY', 5, 'database is locked'],
  // Of another connection of the process, in modes that the driver does not use.
  ['BUSY', 6, 'database table is locked'],
  ['READONLY', 8, 'attempt to write a readonly database'],
  ['IOERR', 10, 'disk I/O error'],
  ['CORRUPT', 11, 'database disk image is malformed'],
  ['FULL', 13, 'database or disk is full'],
  ['CANTOPEN', 14, 'unable to open database file'],
  ['PROTOCOL', 15, 'locking protocol'],
  ['NOTADB', 26, 'file is not a database'],
]

interface EngineError {
  /** Of `node:sqlite`: the result code, which can be an extended one. */
  readonly errcode?: unknown
  /** Of `libsql`. */
  readonly rawCode?: unknown
  /** Of `bun:sqlite`. */
  readonly errno?: unknown
  readonly message?: unknown
}

/** Returns why a statement failed; `undefined` for other errors. */
export function sqliteCode(error: unknown): SqliteCode | undefined {
  const { errcode, rawCode, errno, message } = (error ?? {}) as EngineError
  const result = [errcode, rawCode, errno].find((candidate) => typeof candidate === 'number')
  // An extended result code has the primary one in its lowest byte.
  const byResult = codes.find(([, number]) => typeof result === 'number' && result > 0 && number === (result & 0xff))
  if (byResult !== undefined) return byResult[0]
  // The engine of Deno reports only the message; libsql has "...: 14" when it cannot open a file.
  const text = String(message)
  const opening = /^ConnectionFailed\(.*: (\d+)/u.exec(text)?.[1]
  return codes.find(([, number, known]) => text.includes(known) || Number(opening) === number)?.[0]
}

/** @returns what is wrong with the file and what to do. */
export function explainSqliteError(error: unknown, file: string): string {
  const message = error instanceof Error ? error.message : String(error)
  switch (sqliteCode(error)) {
    case 'BUSY':
      return `another process is writing to ${file} and does not finish`
    case 'READONLY':
      return `${file} cannot be written (SQLITE_READONLY); make the user of this process the owner of the file and its directory, on a file system with write access`
    case 'FULL':
      return `the disk of ${file} is full (SQLITE_FULL); free some space`
    case 'CORRUPT':
      return `${file} is damaged (SQLITE_CORRUPT); restore a backup, or repair it with the .recover command of sqlite3`
    case 'NOTADB':
      return `${file} is not a SQLite database (SQLITE_NOTADB); set another file`
    case 'CANTOPEN':
      return `${file} cannot be opened (SQLITE_CANTOPEN); use a file on a local disk, in a directory of the user of this process`
    case 'IOERR':
      return `the disk of ${file} reports an error (SQLITE_IOERR); check the disk`
    default:
      return `${file} cannot be used: ${message}`
  }
}
