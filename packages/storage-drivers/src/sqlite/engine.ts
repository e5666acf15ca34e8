import { createRequire } from 'node:module'
import process from 'node:process'

/** A row by the names of its columns. */
export type Row = Readonly<Record<string, unknown>>
export type SqlValue = string | number | Uint8Array

/** A SQLite database that performs statements synchronously. */
export interface SqlDatabase {
  /** Performs a statement that returns rows. */
  all(sql: string, ...values: readonly SqlValue[]): readonly Row[]
  /** Performs a statement that returns no rows. */
  run(sql: string, ...values: readonly SqlValue[]): void
}

/** A connection to a file. */
export interface SqliteConnection extends SqlDatabase {
  close(): void
}

/** An engine of the runtime. */
export type OpenConnection = (file: string) => SqliteConnection

type Values = readonly SqlValue[]

interface Statement {
  all(...values: readonly unknown[]): readonly Row[]
  run(...values: readonly unknown[]): unknown
}

/** The common part of the classes of `node:sqlite`, `bun:sqlite` and `libsql`. */
type DatabaseClass = new (
  file: string,
) => { prepare(sql: string): Statement; exec(sql: string): unknown; close(): void }

/**
 * Each statement is prepared once: the driver has a fixed set of them.
 *
 * @param parametersOf converts the values of a statement to the parameters of `all` and `run`
 */
const openWith =
  (Database: DatabaseClass, parametersOf: (values: Values) => readonly unknown[]): OpenConnection =>
  (file) => {
    const database = new Database(file)
    const statements = new Map<string, Statement>()
    function statementOf(sql: string): Statement {
      let statement = statements.get(sql)
      if (statement === undefined) {
        statement = database.prepare(sql)
        statements.set(sql, statement)
      }
      return statement
    }
    return {
      all: (sql, ...values) => statementOf(sql).all(...parametersOf(values)),
      // Statements without values begin and end a transaction, and are not prepared: libsql does not reset a prepared
      // statement that has failed, and SQLite then keeps the state that later reads see.
      run: (sql, ...values) =>
        void (values.length === 0 ? database.exec(sql) : statementOf(sql).run(...parametersOf(values))),
      close() {
        statements.clear()
        database.close()
      },
    }
  }

const separately = (values: Values): Values => values
/** libsql would take bytes that are the only value for an object with named values, and bind nothing. */
const asArray = (values: Values): readonly [Values] => [values]

interface Modules {
  readonly 'bun:sqlite': { readonly Database: DatabaseClass }
  readonly 'node:sqlite': { readonly DatabaseSync: DatabaseClass }
}

/** A method of `process` in Bun, Deno, and Node.js 20.16 and later. */
interface ModuleSource {
  getBuiltinModule?<Name extends keyof Modules>(name: Name): Modules[Name] | undefined
}

/** Loads a module without the warning of Node.js that SQLite is experimental: an operator cannot act on it. */
function loadBuiltIn<Name extends keyof Modules>(name: Name): Modules[Name] | undefined {
  const { emitWarning } = process
  process.emitWarning = () => {}
  try {
    return (process as ModuleSource).getBuiltinModule?.(name)
  } finally {
    process.emitWarning = emitWarning
  }
}

/** @throws Error that says what to install. */
function loadLibsql(): DatabaseClass {
  try {
    // Not an import, so that bundlers leave it alone: the package has a part that is no JavaScript.
    return createRequire(import.meta.url)('libsql')
  } catch (error) {
    throw new Error(
      `storage: this runtime has no SQLite; use Node.js 22.13 or later, or install the package libsql (npm install libsql)`,
      { cause: error },
    )
  }
}

/** Whether `loadEngine()` finds one. */
export function hasEngine(): boolean {
  try {
    loadEngine()
    return true
  } catch {
    return false
  }
}

/**
 * Returns the SQLite of the runtime: `bun:sqlite`, `node:sqlite` (Node.js 22.13 and later, Deno), or the package libsql.
 *
 * @throws Error when there is none.
 */
export function loadEngine(): OpenConnection {
  const ofBun = 'Bun' in globalThis ? loadBuiltIn('bun:sqlite')?.Database : undefined
  const builtIn = ofBun ?? loadBuiltIn('node:sqlite')?.DatabaseSync
  return builtIn === undefined ? openWith(loadLibsql(), asArray) : openWith(builtIn, separately)
}
