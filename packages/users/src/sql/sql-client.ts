/** The values of a row as texts, which are the same for all databases and engines. */
export type TextRow = readonly (string | null)[]

/** A column of a table. */
export interface Column {
  readonly name: string
  /** Maximum number of characters, if there is one. */
  readonly maxLength?: number | undefined
}

/** The differences between the databases. */
export interface Dialect {
  /** Returns a column as text. */
  text(column: string): string
  /** Returns the condition that a column is equal to a parameter. The columns of the client must have been read. */
  equals(column: string, index: number): string
  /** Returns the condition that a column is equal to an element of the first parameter; absent if the database has no arrays. */
  readonly equalsAny?: ((column: string) => string) | undefined
  /** Returns the condition that a name is equal to the only parameter. */
  sameName(column: string, caseSensitive: boolean): string
  /** Parameter number `index`, from 1. */
  parameter(index: number): string
}

/** Reads the row of a user by its `sub`, which is the first column. */
export interface RowStatement {
  /** Parameter: the `sub`. Returns at most two rows, to notice duplicates. */
  readonly oneRow: string
  /** Parameters: several `sub`, and the maximum number of rows. Absent if the database has no arrays. */
  readonly manyRows?: string | undefined
}

/** A connection to a database. All values are parameters. */
export interface SqlClient {
  /** The name of the table in quotes. */
  readonly table: string
  readonly dialect: Dialect
  /** Performs a statement that reads. */
  read(text: string, values: readonly string[]): Promise<readonly TextRow[]>
  /** Returns the rows that the database finds for a `sub`. The read begins after the call. */
  rowsOf(statement: RowStatement, sub: string): Promise<readonly TextRow[]>
  /** Performs a statement that writes. */
  write(text: string, values: readonly string[]): Promise<void>
  /** Performs a statement that writes, and returns the rows that it has written. */
  returning(text: string, values: readonly string[]): Promise<readonly TextRow[]>
  /** Returns the columns; `undefined` if there is no such table. */
  columns(): Promise<readonly Column[] | undefined>
  /** Whether the database finds the rows of a statement with an index. */
  usesIndex(text: string, values: readonly string[]): Promise<boolean>
  /** Whether this user may perform a statement that writes. */
  mayWrite(text: string, values: readonly string[]): Promise<boolean>
  /** Returns the SQL with which the operator creates an index for the names. */
  indexFor(column: string, caseSensitive: boolean): string
  close(): void
}

export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

/** Completes a statement that reads users by the column of their `sub`. */
export const rowStatement = (select: string, column: string, { equals, equalsAny }: Dialect): RowStatement => ({
  oneRow: `${select} WHERE ${equals(column, 1)} LIMIT 2`,
  ...(equalsAny !== undefined && { manyRows: `${select} WHERE ${equalsAny(column)} LIMIT $2` }),
})
