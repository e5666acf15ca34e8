import type { Entry, Filter } from 'ldapts'
import { isGuid } from './entries.ts'
import { codeOf, explain, isRefusal } from './errors.ts'
import { type LdapConnection, type LdapServer, nameOf, openConnection } from './ldap-connection.ts'
import type { LdapUsersOptions } from './ldap-options.ts'
import { createPool } from './pool.ts'

/** The error of the function could contain the password. */
async function passwordOf(bindPassword: LdapUsersOptions['bindPassword']): Promise<string> {
  if (typeof bindPassword === 'string') return bindPassword
  const password = await (async () => bindPassword())().catch(() => '')
  // With an empty one, the server would not check it (RFC 4513 section 5.1.2).
  if (password === '') throw new Error('the function bindPassword has returned no password')
  return password
}

/** Opens a connection as the account that searches. */
async function openSearcher(
  { url, bindDn, bindPassword }: LdapUsersOptions,
  server: LdapServer,
): Promise<LdapConnection> {
  const connection = await openConnection(server)
  try {
    await connection.client.bind(bindDn, await passwordOf(bindPassword))
  } catch (error) {
    connection.destroy()
    // Not the refusal of a user's password.
    if (codeOf(error) === undefined) throw error
    throw Object.assign(explain(error, `users.bindDn: ${nameOf(url)}`), { isExplained: true })
  }
  return connection
}

type Search = (filter: Filter, names: readonly string[]) => Promise<readonly Entry[]>

const searchWith =
  (searchers: ReturnType<typeof createPool>, { baseDn, scope, operationTimeout }: LdapUsersOptions): Search =>
  (filter, names) =>
    searchers.run(async ({ client }) => {
      const result = await client.search(baseDn, {
        scope,
        filter,
        derefAliases: 'never',
        // The second one shows that there is more than one.
        sizeLimit: 2,
        timeLimit: Math.ceil(operationTimeout),
        attributes: [...names],
        explicitBufferAttributes: names.filter(isGuid),
      })
      return result.searchEntries
    })

/** The connections: some only search, as the account of the options, others only bind, as users. */
export function connectTo(options: LdapUsersOptions, ca: string | undefined) {
  const { url, startTls, baseDn, attributes, maxConnections, operationTimeout } = options
  const timeout = Math.ceil(operationTimeout * 1000)
  const server: LdapServer = { url, startTls, ca, timeout }
  const limits = { max: maxConnections, timeout }
  const name = nameOf(url)

  const searchers = createPool(() => openSearcher(options, server), limits)
  const binders = createPool(() => openConnection(server), limits)

  const explained = (error: unknown): Error =>
    (error as { readonly isExplained?: boolean }).isExplained ? (error as Error) : explain(error, name)

  const search = searchWith(searchers, options)

  return {
    name,
    async search(filter: Filter, names: readonly string[]): Promise<readonly Entry[]> {
      try {
        // Repeated once on another connection, because a connection that the server has closed is noticed late.
        return await search(filter, names).catch((error: unknown) => {
          if (codeOf(error) !== undefined || !/closed/u.test((error as Error).message)) throw error
          return search(filter, names)
        })
      } catch (error) {
        throw explained(error)
      }
    },
    /** Whether the password is that of the entry. It must not be empty: the server would not check it. */
    async bind(dn: string, password: string): Promise<boolean> {
      if (password === '') throw new TypeError('an empty password is not sent')
      try {
        await binders.run(({ client }) => client.bind(dn, password))
        return true
      } catch (error) {
        if (isRefusal(error)) return false
        throw explained(error)
      }
    },
    /** Whether the base exists. */
    async hasBase(): Promise<boolean> {
      try {
        await searchers.run(({ client }) => client.search(baseDn, { scope: 'base', attributes: [attributes.sub] }))
        return true
      } catch (error) {
        if ([32, 34].includes(codeOf(error) ?? 0)) return false
        throw explained(error)
      }
    },
    /**
     * Whether the server can decide a filter for one of the entries. Also if it cannot search without a name, because it has no
     * index for all users.
     */
    async canDecide(entries: Filter, filter: Filter): Promise<boolean> {
      try {
        const [entry] = await search(entries, [attributes.sub])
        if (entry === undefined) return true
        const result = await searchers.run(({ client }) =>
          client.search(entry.dn, { scope: 'base', filter, attributes: [attributes.sub] }),
        )
        return result.searchEntries.length > 0
      } catch (error) {
        if (codeOf(error) !== undefined) return true
        throw explained(error)
      }
    },
    close() {
      searchers.close()
      binders.close()
    },
  }
}

export type Directory = ReturnType<typeof connectTo>
