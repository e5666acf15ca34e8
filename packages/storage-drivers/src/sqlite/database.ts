import type { MaybePromise } from '@grantry/core'
import type { OpenConnection } from './engine.ts'
import { explainSqliteError, sqliteCode } from './errors.ts'
import type { Step } from './item-table.ts'
import { type OpenDatabase, openDatabase } from './open-database.ts'
import { movedError } from './prepare-file.ts'
import type { SqliteSettings } from './sqlite-options.ts'
import { type Batch, createBatch } from './write-batch.ts'

/** The file of a driver, with the connection to it. */
export interface Database {
  open(): Promise<void>
  /** Reads in one state of the database. Returns the result immediately if the file is open and not locked. */
  read<T>(step: Step<T>): MaybePromise<T>
  /** Writes in a transaction that it shares with the other writes of this turn of the event loop. */
  write<T>(step: Step<T>): Promise<T>
  /** Performs the writes that wait, and closes the connection. */
  dispose(): Promise<void>
}

/** Milliseconds until the next attempt after another process had the lock: a few commits of it, at random. */
const retryPause = (): number => 1 + Math.random() * 4

const isExplained = (error: unknown): boolean => error instanceof Error && error.message.startsWith('storage: ')

/** The connection is closed after an error, unless it says that the connection is in order. */
const keepsConnection = (error: unknown): boolean => ['BUSY', 'CORRUPT', 'FULL'].includes(sqliteCode(error) ?? '')

/** Milliseconds between two closings after errors: libsql keeps the files of a closed connection open for a while. */
const reopenInterval = 10_000

/** Keeps one connection open, and opens it again after an error. */
function createConnection(settings: SqliteSettings, loadEngine: () => OpenConnection) {
  let openEngine: OpenConnection | undefined
  let current: OpenDatabase | undefined
  let wasOpen = false
  let failedAt = Number.NEGATIVE_INFINITY

  function engine(): OpenConnection {
    openEngine ??= loadEngine()
    return openEngine
  }

  function close(): void {
    const closing = current
    current = undefined
    // If another file is in its place, does not close it, because SQLite would remove the log of that file.
    if (closing?.isInPlace()) closing.close()
  }

  return {
    close,
    get(): OpenDatabase {
      if (current === undefined) {
        current = openDatabase(engine, settings, !wasOpen)
        wasOpen = true
      } else if (!current.isInPlace()) {
        // Refuses reads, too: the revocations of other processes are in the new file.
        throw movedError(settings.file)
      }
      return current
    },
    /** Returns the error to throw instead. */
    handle(error: unknown): unknown {
      if (isExplained(error)) return error
      const now = performance.now()
      if (!keepsConnection(error) && now - failedAt >= reopenInterval) {
        failedAt = now
        try {
          close()
        } catch {
          // The connection is abandoned in any case. The first error is reported.
        }
      }
      return new Error(`storage: ${explainSqliteError(error, settings.file)}`, { cause: error })
    },
  }
}

/** @param loadEngine returns the engine; called when the file is opened */
export function createDatabase(settings: SqliteSettings, loadEngine: () => OpenConnection): Database {
  const connection = createConnection(settings, loadEngine)
  const batch: Batch = createBatch({
    database: () => connection.get(),
    handle: connection.handle,
    retryPause,
    timeout: settings.timeout,
  })
  let isDisposed = false

  const disposed = (): Promise<never> => Promise.reject(new Error(`storage: ${settings.file} was disposed of`))

  /** Repeats until the file is not locked: after a crash of another process, the first one repairs it. */
  async function readLater<T>(step: Step<T>): Promise<T> {
    const deadline = performance.now() + settings.timeout
    for (;;) {
      try {
        return step(connection.get())
      } catch (error) {
        if (sqliteCode(error) !== 'BUSY' || performance.now() > deadline) throw connection.handle(error)
      }
      await new Promise((resolve) => setTimeout(resolve, retryPause()))
    }
  }

  return {
    open: () => (isDisposed ? disposed() : readLater(() => {})),
    read(step) {
      if (isDisposed) return disposed()
      try {
        return step(connection.get())
      } catch (error) {
        return sqliteCode(error) === 'BUSY' ? readLater(step) : Promise.reject(connection.handle(error))
      }
    },
    write: (step) => (isDisposed ? disposed() : batch.add(step)),
    async dispose() {
      isDisposed = true
      await batch.settled()
      connection.close()
    },
  }
}
