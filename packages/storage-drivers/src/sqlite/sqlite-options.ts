import { resolve } from 'node:path'
import type { DatabaseSettings } from './open-database.ts'
import { assertPrefix, statementsFor } from './sqlite-statements.ts'

export interface SqliteDriverOptions {
  /**
   * A file on a local disk; created when absent. Several processes on one machine can share it, several machines
   * cannot.
   */
  readonly file: string
  /** Prefix of the table's name, `<prefix>_items`. Default: `grantry`. */
  readonly prefix?: string | undefined
  /**
   * `full`, the default: a write resolves only once it would survive a power cut. `normal`: the last writes before a
   * crash of the machine (not the process) can be lost, so a code could be redeemed again.
   */
  readonly synchronous?: 'full' | 'normal' | undefined
  /** Time limit of an operation that waits for another process, in seconds. Default: 2. */
  readonly operationTimeout?: number | undefined
}

/** The options with defaults applied. */
export interface SqliteSettings extends DatabaseSettings {
  /** Milliseconds. */
  readonly timeout: number
}

/** @throws TypeError when an option is invalid. */
export function parseOptions(options: SqliteDriverOptions): SqliteSettings {
  const { file, prefix = 'grantry', synchronous = 'full', operationTimeout = 2 } = options
  // An empty path, and `:memory:`, would be a database of this process only.
  if (typeof file !== 'string' || file === '' || file.includes('\0') || file.startsWith(':') || /^file:/iu.test(file)) {
    throw new TypeError('sqliteDriver(): file must be the path of a file')
  }
  assertPrefix(prefix, 'sqliteDriver()')
  if (synchronous !== 'full' && synchronous !== 'normal') {
    throw new TypeError('sqliteDriver(): synchronous must be full or normal')
  }
  if (!(operationTimeout >= 0.01 && operationTimeout <= 3600)) {
    throw new TypeError('sqliteDriver(): operationTimeout must be 0.01 to 3600 seconds')
  }
  return {
    file: resolve(file),
    synchronous,
    statements: statementsFor(prefix),
    timeout: Math.ceil(operationTimeout * 1000),
  }
}
