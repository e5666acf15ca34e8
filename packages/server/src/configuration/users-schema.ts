import { type StoredUser, userClaimsSchema } from '@grantry/administration'
import { configurationObject, foldedUsername } from '@grantry/core'
import { ldapEntries, sqlEntries } from '@grantry/users/options'
import { type PasswordHash, parsePasswordHash, passwordHashProblem } from '@grantry/users/password-hash'
import * as v from 'valibot'
import { numericMember } from '../numeric.ts'
import { passwordEntries } from './password-file.ts'
import { text } from './storage/fields.ts'

const shortText = v.pipe(
  v.string('must be a string'),
  v.minLength(1, 'must not be empty'),
  v.maxLength(255, 'must be at most 255 characters'),
)

/** A user in a configuration file. */
export const userSchema = configurationObject({
  /** The id of the user in tokens. Never give it to another user. */
  sub: shortText,
  /** The name for the sign-in. */
  username: shortText,
  password: v.pipe(
    v.string('must be a string'),
    v.rawTransform(({ dataset, addIssue, NEVER }): PasswordHash => {
      const hash = parsePasswordHash(dataset.value)
      if (hash !== undefined) return hash
      addIssue({ message: passwordHashProblem(dataset.value) ?? 'must be a password hash' })
      return NEVER
    }),
  ),
  /** `false`: the user cannot sign in, and has no valid token. */
  active: v.optional(v.boolean('must be true or false'), true),
  /** The claims of the user that clients can get. */
  claims: v.optional(userClaimsSchema, {}),
})
export type UserInput = v.InferInput<typeof userSchema>
export type ConfiguredUser = v.InferOutput<typeof userSchema>

/** Whether the configuration lists its users. Then further users can be in the storage. */
export const isUserList = (users: object): users is readonly ConfiguredUser[] => Array.isArray(users)

/** Returns a user of the configuration with the `sub` or the name of this one, in any case and Unicode form. */
export function configuredUserLike(
  { sub, username }: Pick<StoredUser, 'sub' | 'username'>,
  users: readonly ConfiguredUser[],
): ConfiguredUser | undefined {
  const name = foldedUsername(username)
  return users.find((user) => user.sub === sub || foldedUsername(user.username) === name)
}

/** Returns the users of the configuration with this `sub`, or with this name in any case and Unicode form. */
export function configuredUsersLike(subOrName: string, users: readonly ConfiguredUser[]): readonly ConfiguredUser[] {
  const name = foldedUsername(subOrName)
  return users.filter(({ sub, username }) => sub === subOrName || foldedUsername(username) === name)
}

const ca = v.optional(text('the path of a file with certificates'))

const numbersOf = ({ maxConnections, operationTimeout }: typeof sqlEntries | typeof ldapEntries) => ({
  maxConnections: numericMember(maxConnections),
  operationTimeout: numericMember(operationTimeout),
})

/** The databases of the host that users can be in, by the name of their driver. */
export const userDatabaseSchemas = {
  sql: configurationObject({
    driver: v.literal('sql'),
    ca,
    ...passwordEntries,
    ...sqlEntries,
    ...numbersOf(sqlEntries),
  }),
  ldap: configurationObject({
    driver: v.literal('ldap'),
    ca,
    ...ldapEntries,
    ...numbersOf(ldapEntries),
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

/** The users in a table of a database. */
export type UserTable = Extract<UserDatabaseConfiguration, { readonly driver: 'sql' }>

/** Whether users are in a table, which this server can change. */
export const isTable = (users: object): users is UserTable => 'driver' in users && users.driver === 'sql'
