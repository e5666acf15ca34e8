import { resolve } from 'node:path'
import { configurationObject, type UserService } from '@grantry/core'
import { ldapEntries, sqlEntries } from '@grantry/users/options'
import type { UserDatabase } from '@grantry/users/sql'
import type { SqlAccounts } from '@grantry/users/sql-accounts'
import * as v from 'valibot'
import { readAuthority } from '../configuration/authority-file.ts'
import { passwordEntries, passwordOf } from '../configuration/password-file.ts'
import { text } from '../configuration/storage/fields.ts'

const ca = v.optional(text('the path of a file with certificates'))

/** The databases of the host that users can be in, by the name of their driver. */
export const userDatabaseSchemas = {
  sql: configurationObject({ driver: v.literal('sql'), ca, ...passwordEntries, ...sqlEntries }),
  ldap: configurationObject({
    driver: v.literal('ldap'),
    ca,
    ...ldapEntries,
    bindPassword: v.optional(ldapEntries.bindPassword),
    /** A file with the password of `bindDn`, read for each new connection. */
    bindPasswordFile: v.optional(text('the path of a file with the password')),
  }),
} as const

type Name = keyof typeof userDatabaseSchemas
type Schema = (typeof userDatabaseSchemas)[Name]
export type UserDatabaseInput = v.InferInput<Schema>
export type UserDatabaseConfiguration = v.InferOutput<Schema>

const names = Object.keys(userDatabaseSchemas) as readonly Name[]

const unknownDriver = v.looseObject({ driver: v.picklist(names, `must be one of ${names.join(', ')}`) })

/** Whether the value names a driver. A user service of a module configuration has functions. */
export const namesDriver = <T>(users: T): users is Extract<T, { readonly driver: string }> =>
  typeof users === 'object' && users !== null && 'driver' in users && typeof users.driver !== 'function'

/** Chosen by the name of the driver. The errors of a union would not name the path. */
export const userDatabaseSchema = ({
  driver,
}: {
  readonly driver: unknown
}): v.GenericSchema<UserDatabaseInput, UserDatabaseConfiguration> => {
  const known = names.find((name) => name === driver)
  const schema: unknown = known === undefined ? unknownDriver : userDatabaseSchemas[known]
  return schema as v.GenericSchema<UserDatabaseInput, UserDatabaseConfiguration>
}

type Table = Extract<UserDatabaseConfiguration, { readonly driver: 'sql' }>

/** Whether users are in a table, which this server can change. */
export const isTable = (users: object): users is Table => 'driver' in users && users.driver === 'sql'

function tableOf({ driver: _, ca: _file, password, passwordFile, file, ...options }: Table, directory: string) {
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

/** How to connect to a database with a table of users. */
async function connectionOf(users: Table, directory: string) {
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

/** Returns the user service of a configuration without a list of users. One with connections opens them on demand. */
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
