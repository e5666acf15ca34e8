// The schemas of the options, without the clients of the databases.

export { isUnencrypted, type LdapUsersInput, type LdapUsersOptions, ldapEntries } from './ldap/ldap-options.ts'
export { type SqlUsersInput, type SqlUsersOptions, sqlEntries } from './sql/sql-options.ts'
