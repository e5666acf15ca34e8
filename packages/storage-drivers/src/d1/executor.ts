import type { Row, SqlValue } from '../sqlite/engine.ts'

interface D1Statement {
  bind(...values: unknown[]): D1Statement
  all(): Promise<{ readonly results: readonly Row[] }>
}

/** The part of the D1 binding that the driver uses. */
export interface D1Binding {
  prepare(statement: string): D1Statement
  batch(statements: D1Statement[]): Promise<readonly { readonly results: readonly Row[] }[]>
}

/** A statement with its values. */
export type Query = readonly [sql: string, ...values: SqlValue[]]

/** Performs statements. They reject with a sentence. */
export interface D1Executor {
  all(...query: Query): Promise<readonly Row[]>
  /** Performs the statements in one transaction. Returns the rows of each. */
  batch(queries: readonly Query[]): Promise<readonly (readonly Row[])[]>
}

/** The error of D1 does not contain values. */
const explained = (error: unknown): Error => {
  const message = error instanceof Error ? error.message : String(error)
  return new Error(`storage: D1 cannot perform an operation: ${message}`, { cause: error })
}

export function createExecutor(database: D1Binding): D1Executor {
  const prepare = ([sql, ...values]: Query): D1Statement => database.prepare(sql).bind(...values)
  return {
    async all(...query) {
      try {
        return (await prepare(query).all()).results
      } catch (error) {
        throw explained(error)
      }
    },
    async batch(queries) {
      try {
        return (await database.batch(queries.map(prepare))).map(({ results }) => results)
      } catch (error) {
        throw explained(error)
      }
    },
  }
}
