// The clients of the drivers, for tables of the host that other packages of Grantry read (`@grantry/users`). Not for
// other programs: these exports change without notice.

export { nameOf, parseAddress } from './postgresql/address.ts'
export { codeOf } from './postgresql/errors.ts'
export { createExecutor } from './postgresql/executor.ts'
export { textArray } from './postgresql/parameters.ts'
export { createPool } from './postgresql/pool.ts'
export type { Row, Statement } from './postgresql/postgresql-connection.ts'
export type { PostgresqlConnectionOptions } from './postgresql/postgresql-options.ts'
export { statementOf } from './postgresql/postgresql-statements.ts'
export { loadEngine, type OpenConnection, type SqliteConnection } from './sqlite/engine.ts'
export { explainSqliteError, sqliteCode } from './sqlite/errors.ts'
