import {
  type Managers,
  type Plan,
  type PlannedEntry,
  pagesOf,
  refusalOf,
  type StoredUser,
} from '@grantry/administration'
import { type ClientOptions, configurationError, type ScopeOptions } from '@grantry/core'
import type { LoadedConfiguration } from '../configuration/load.ts'
import { configurationMessage } from '../error-message.ts'
import { createUserCheck } from './check-user.ts'
import { entryProblems } from './entry-problems.ts'
import { withEntryChecks } from './try-provider.ts'

type Named = Readonly<Record<string, unknown>>

/** The entries of a list in the configuration; none if a function of the host finds them. */
const configuredIn = (list: unknown): readonly Named[] => (Array.isArray(list) ? list : [])

/** Returns an error for each entry that is in the configuration, too. */
function configuredTwice({ configuration, file }: LoadedConfiguration, declared: readonly PlannedEntry[]) {
  const taken = new Set<string>()
  for (const { list, type } of new Set(declared.map(({ kind }) => kind))) {
    for (const entry of configuredIn((configuration as Named)[list])) taken.add(`${list} ${entry[type.idMember]}`)
  }
  return declared.flatMap(({ kind: { list, type }, value, where }) => {
    const id = String(value[type.idMember])
    return taken.has(`${list} ${id}`)
      ? [`${where}: the ${type.noun} ${id} is in ${list} of ${file}, too; edit it there`]
      : []
  })
}

/** The scopes in the storage that the plan leaves as they are. */
async function otherScopes({ changes, declared }: Plan, { scopes }: Managers): Promise<readonly ScopeOptions[]> {
  const isScope = ({ kind }: Pick<PlannedEntry, 'kind'>): boolean => kind.list === 'scopes'
  const planned = [
    ...declared.filter(isScope).map(({ value }) => value.name),
    ...changes.filter(isScope).map(({ id }) => id),
  ]
  const stored: ScopeOptions[] = []
  for await (const page of pagesOf(scopes.page)) stored.push(...page.entries.map(({ value }) => value))
  return stored.filter(({ name }) => !planned.includes(name))
}

/** Returns what the server would refuse about users, such as a password that is no hash. */
async function userProblems(loaded: LoadedConfiguration, users: readonly PlannedEntry[]): Promise<readonly string[]> {
  const check = createUserCheck(loaded)
  const problems: string[] = []
  for (const { value, where } of users) {
    await check(value as unknown as StoredUser).catch((cause: unknown) => {
      if (refusalOf(cause) === undefined) throw cause
      problems.push(`${where}: ${(cause as Error).message}`)
    })
  }
  return problems
}

/** Returns the mistakes of an entry that the provider finds, with the place in the file. */
function problemsOf<T extends object>(
  { kind: { list }, value, where }: PlannedEntry,
  check: (entry: T) => void,
  path: string,
): readonly string[] {
  return entryProblems(value as unknown as T, check, path).problems.map((problem) => {
    const text = configurationMessage(problem)
    // `clients[0]: redirectUris[0] must be`, and `clients: web has`.
    return text.startsWith(path) ? where + text.slice(path.length) : `${where}: ${text.replace(`${list}: `, '')}`
  })
}

/**
 * Checks the entries of files together: a client can have a scope of the same files. Each is checked as `grantry clients
 * add` and the admin API check it.
 *
 * @throws TypeError that names the file and the path. `configurationProblems()` returns all mistakes that were found.
 */
export async function checkDeclared(loaded: LoadedConfiguration, plan: Plan, managers: Managers): Promise<void> {
  const { declared } = plan
  const of = (list: string): readonly PlannedEntry[] => declared.filter(({ kind }) => kind.list === list)
  const named = declared.filter(({ kind }) => kind.list !== 'users')
  const names = of('scopes').map(({ value }) => String(value.name))
  const refusals = await withEntryChecks(loaded, await otherScopes(plan, managers), ({ checkClient, checkScope }) => [
    ...of('scopes').flatMap((entry) => problemsOf(entry, checkScope, 'scopes[0]')),
    ...of('clients').flatMap((entry) =>
      problemsOf<ClientOptions>(entry, (client) => checkClient(client, names), 'clients[0]'),
    ),
  ])
  const [first, ...more] = [
    ...configuredTwice(loaded, named),
    ...(await userProblems(loaded, of('users'))),
    ...refusals,
  ]
  if (first !== undefined) throw configurationError([first, ...more])
}
