import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadEngine } from '@grantry/storage-drivers/clients'
import type { SqlUsersInput } from '@grantry/users/options'
import { sqlUsers } from '@grantry/users/sql'
import { afterAll, describe } from 'vitest'
import { describeWithPostgresql } from '../support/postgresql-describe.ts'
import { postgresqlServers } from '../support/postgresql-servers.ts'

/** What the host has, beside what `sqlUsers()` reads. */
export interface HostDatabase {
  /** `url` or `file`. */
  readonly where: Pick<SqlUsersInput, 'url' | 'file'>
  /** Performs a statement of the host. */
  run(sql: string): Promise<void>
}

/** A new file. Removed after the tests of the file. */
export function openSqlite(): HostDatabase {
  const directory = mkdtempSync(join(tmpdir(), 'grantry-users-'))
  const file = join(directory, 'app.db')
  const connection = loadEngine()(file)
  afterAll(() => {
    connection.close()
    rmSync(directory, { recursive: true })
  })
  return { where: { file }, run: async (sql) => connection.run(sql) }
}

/** Runs tests on each database, with a new one for each suite. */
export function describeDatabases(
  name: string,
  define: (open: () => Promise<HostDatabase>, isPostgresql: boolean) => void,
): void {
  describe(`${name}, in SQLite`, () => define(async () => openSqlite(), false))
  describeWithPostgresql(`${name}, in PostgreSQL`, () => {
    const start = postgresqlServers()
    define(async () => {
      const { url, query } = await start()
      return { where: { url }, run: async (sql) => void (await query(sql)) }
    }, true)
  })
}

/** Users that are closed after the test file. */
export function usersFactory() {
  const opened: { close(): Promise<void> }[] = []
  afterAll(() => Promise.all(opened.map((users) => users.close())))
  return (input: SqlUsersInput) => {
    const users = sqlUsers(input)
    opened.push(users)
    return users
  }
}
