import { randomUUID } from 'node:crypto'
import {
  type AuthenticatedUser,
  configurationObject,
  type FoundUser,
  foldedPassword,
  parseConfiguration,
  spellingsOf,
  type UserCredentials,
} from '@grantry/core'
import type { Entry, Filter } from 'ldapts'
import { connectTo, type Directory } from './ldap/directory.ts'
import { claimsOf, claimValue, entriesOf, firstValueOf, hasName, subOf } from './ldap/entries.ts'
import { type Filters, filtersOf } from './ldap/filters.ts'
import { type LdapUsersInput, type LdapUsersOptions, ldapUsersSchema } from './ldap/ldap-options.ts'
import { readableClaims } from './readable-claims.ts'
import { createReadings } from './readings.ts'
import { guarded, unusableRecord } from './unavailable.ts'
import { isPossible, type UserDatabase } from './user-database.ts'

export type { LdapUsersInput } from './ldap/ldap-options.ts'
export type { UserDatabase } from './user-database.ts'

// Errors name the path as in the configuration of a server.
const schema = configurationObject({ users: ldapUsersSchema })

/** The only entry; `undefined` if there is none. */
function onlyOne([entry, second]: readonly Entry[], problem: string): Entry | undefined {
  if (second !== undefined) throw unusableRecord(problem)
  return entry
}

/** The forms of a password: that of new ones, and as typed, for one that another program has set. */
const formsOf = (password: string): readonly string[] => [...new Set([foldedPassword(password), password])]

/**
 * Always makes one search, and one bind for each form of the password. Without an entry, binds as one that does not
 * exist.
 */
async function signIn(
  directory: Directory,
  { attributes, baseDn }: LdapUsersOptions,
  byName: (spellings: readonly string[]) => Filter,
  { username, password }: UserCredentials,
): Promise<AuthenticatedUser | undefined> {
  // With an empty password, a bind succeeds without a check (RFC 4513 section 5.1.2).
  if (password === '' || password.includes('\0')) return undefined
  const spellings = spellingsOf(username).filter(isPossible)
  const names = [attributes.username].flat()
  const all = spellings.length === 0 ? [] : await directory.search(byName(spellings), [attributes.sub, ...names])
  const entries = entriesOf(username, all, names)
  const dn = entries.length === 1 ? entries[0]?.dn : undefined
  let matches = false
  for (const form of formsOf(password)) {
    matches = (await directory.bind(dn ?? `cn=${randomUUID()},${baseDn}`, form)) || matches
  }
  const entry = onlyOne(entries, 'users.attributes.username: several entries have this name')
  if (entry !== undefined && hasName(username, entry, names) === undefined) {
    throw unusableRecord('users.attributes.username: the directory does not show these attributes to bindDn')
  }
  if (!matches || entry === undefined) return undefined
  const sub = subOf(entry, attributes.sub)
  if (sub !== undefined && sub !== '') return { sub }
  throw unusableRecord(`users.attributes.sub: an entry has not exactly one value of ${attributes.sub}`)
}

/** Returns what the directory lacks: the base, or the attribute that disables accounts. */
async function missingIn(directory: Directory, { users, decided }: Filters): Promise<string | undefined> {
  const { name } = directory
  if (!(await directory.hasBase())) return `users.baseDn: ${name} has no such entry, or does not show it to bindDn`
  if (decided === undefined || (await directory.canDecide(users, decided))) return undefined
  return `users.active: ${name} does not know the attribute, or does not show it to bindDn, so no user would be active`
}

/**
 * Reads users from an LDAP directory: a search finds the entry of a name, and a bind as this entry checks the password.
 * While the directory does not respond, requests get 503. Referrals are not followed.
 *
 * @param more `ca`: certificates of the authority of the server in PEM, instead of the public ones
 * @throws TypeError when an option is malformed. `open()` rejects when the directory refuses the account.
 * @example
 * const users = ldapUsers({
 *   url: 'ldaps://ldap.example.com',
 *   bindDn: 'cn=grantry,dc=example,dc=com',
 *   bindPassword: 'the-password',
 *   baseDn: 'ou=people,dc=example,dc=com',
 *   attributes: { username: 'uid', claims: { name: 'cn', email: 'mail' } },
 * })
 */
export function ldapUsers(input: LdapUsersInput, { ca }: { readonly ca?: string | undefined } = {}): UserDatabase {
  const { users: options } = parseConfiguration(schema, { users: input }, '')
  const filters = filtersOf(options)
  const claims = claimsOf(options)
  const directory = connectTo(options, ca)
  const { sub: subAttribute } = options.attributes
  const claimAttributes = [...new Set(claims.map(({ attribute }) => attribute))]
  const readings = createReadings<Entry | undefined>()

  /** The entry that has exactly this `sub`: a directory ignores case. */
  async function find(sub: string, names: readonly string[]): Promise<Entry | undefined> {
    const filter = isPossible(sub) ? filters.bySub(sub) : undefined
    if (filter === undefined) return undefined
    const entries = await directory.search(filter, [subAttribute, ...names])
    const entry = onlyOne(entries, `users.attributes.sub: several entries have the sub ${JSON.stringify(sub)}`)
    return entry !== undefined && subOf(entry, subAttribute) === sub ? entry : undefined
  }

  /** Searches among all users, and then checks whether those that were found are active. */
  async function findAll(subOrName: string): Promise<readonly FoundUser[]> {
    if (!isPossible(subOrName)) return []
    const names = [options.attributes.username].flat()
    const wanted = [subAttribute, ...names, ...claims.map(({ attribute }) => attribute)]
    const searches = [filters.ofAll.bySub(subOrName), filters.ofAll.byName(spellingsOf(subOrName).filter(isPossible))]
    const [withSub = [], all = []] = await Promise.all(
      searches.map((filter) => (filter === undefined ? [] : directory.search(filter, [...new Set(wanted)]))),
    )
    const named = entriesOf(subOrName, all, names)
    const entries = new Map<string, Entry>()
    for (const entry of [...withSub, ...named]) {
      const sub = subOf(entry, subAttribute)
      if (sub !== undefined && (sub === subOrName || named.includes(entry))) entries.set(sub, entry)
    }
    return Promise.all(
      [...entries].map(async ([sub, entry]) => ({
        sub,
        username: firstValueOf(entry, names),
        active: (await find(sub, [])) !== undefined,
        claims: readableClaims(claims, (claim) => claimValue(entry, claim)),
      })),
    )
  }

  return {
    async open() {
      const problem = await missingIn(directory, filters).catch(({ message }: Error) =>
        message.startsWith('users') ? message : `users: ${message}`,
      )
      if (problem !== undefined) throw new Error(problem)
    },
    async close() {
      directory.close()
    },
    authenticate: (credentials) => guarded(() => signIn(directory, options, filters.byName, credentials)),
    isActive: (sub, question) =>
      guarded(async () => {
        const entry = await find(sub, question?.request === undefined ? [] : claimAttributes)
        readings.keep(question, sub, entry)
        return entry !== undefined
      }),
    claims: (sub, names, question) =>
      guarded(async () => {
        const wanted = claims.filter(({ claim }) => names.includes(claim))
        if (wanted.length === 0) return {}
        const attributes = [...new Set(wanted.map(({ attribute }) => attribute))]
        const entry = await readings.of(question, sub, () => find(sub, attributes))
        if (entry === undefined) return {}
        return Object.fromEntries(wanted.map((claim) => [claim.claim, claimValue(entry, claim)]))
      }),
    find: (subOrName) => guarded(() => findAll(subOrName)),
  }
}
