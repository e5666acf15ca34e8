// The schemas of the options, without the clients of the databases.
export { type SqlUsersInput, type SqlUsersOptions, sqlEntries } from './sql/options.ts'
