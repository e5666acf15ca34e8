import { resolve } from 'node:path'
import type { UserService } from '@grantry/core'
import type { UserDatabase } from '@grantry/users/sql'
import type { SqlAccounts } from '@grantry/users/sql-accounts'
import { readAuthority } from '../configuration/authority-file.ts'
import { passwordOf } from '../configuration/password-file.ts'
import { isTable, namesDriver, type UserDatabaseConfiguration, type UserTable } from '../configuration/users-schema.ts'

function tableOf({ driver: _, ca: _file, password, passwordFile, file, ...options }: UserTable, directory: string) {
  return { ...options, ...(file !== undefined && { file: resolve(directory, file) }) }
}

/** Creates the user service. Loads the client of the database only if it is needed; it connects on demand. */
export async function configuredUserDatabase(
  users: UserDatabaseConfiguration,
  directory: string,
): Promise<UserDatabase> {
  if (users.driver === 'ldap') {
    const { driver: _, ca: _file, bindPassword: password, bindPasswordFile: passwordFile, ...options } = users
    const bindPassword = passwordOf({ password, passwordFile }, directory, 'users', 'bindPasswordFile')
    if (bindPassword === undefined) throw new TypeError('users.bindPassword is required, or users.bindPasswordFile')
    const { ldapUsers } = await import('@grantry/users/ldap')
    const authority = users.ca === undefined ? {} : { ca: await readAuthority(users.ca, directory, 'users.ca') }
    return ldapUsers({ ...options, bindPassword }, authority)
  }
  const { sqlUsers } = await import('@grantry/users/sql')
  return sqlUsers(tableOf(users, directory), { connection: await connectionOf(users, directory) })
}

/** Returns the connection settings of a database with a table of users. */
async function connectionOf(users: UserTable, directory: string) {
  const tls = users.ca === undefined ? undefined : { ca: await readAuthority(users.ca, directory, 'users.ca') }
  return { password: passwordOf(users, directory, 'users'), tls }
}

/**
 * Creates the accounts of users in a table, which they manage themselves; `undefined` if the users are elsewhere.
 *
 * @throws TypeError if the table has no columns for the mail address
 */
export async function configuredAccounts(users: object, directory: string): Promise<SqlAccounts | undefined> {
  if (!isTable(users)) return undefined
  const { sqlAccounts } = await import('@grantry/users/sql-accounts')
  return sqlAccounts(tableOf(users, directory), { connection: await connectionOf(users, directory) })
}

/** Returns the user service of a configuration without a list of users. Connections are opened on demand. */
export const hostUsers = async (
  users: UserService | UserDatabaseConfiguration,
  directory: string,
): Promise<UserService> => (namesDriver(users) ? configuredUserDatabase(users, directory) : users)

/** Whether a user service has connections, which the server opens and closes. */
export const isUserDatabase = (users: object | undefined): users is UserDatabase =>
  users !== undefined &&
  'open' in users &&
  typeof users.open === 'function' &&
  'close' in users &&
  typeof users.close === 'function'
