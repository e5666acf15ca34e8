import { dirname, resolve } from 'node:path'
import {
  type ClientOptions,
  configurationError,
  configurationProblems,
  createProvider,
  isJsonObject,
  parseConfiguration,
  quotableName,
} from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { entryProblems } from '../administration/entry-problems.ts'
import { withEntryChecks } from '../administration/try-provider.ts'
import { withEnvironment } from '../configuration/environment.ts'
import { readConfiguration } from '../configuration/load.ts'
import { loadPluginsOf } from '../configuration/named-plugins.ts'
import { type CheckedConfiguration, configurationSchema } from '../configuration/schema.ts'
import { unusedKeys } from '../configuration/unused-keys.ts'
import { configurationMessage, withEntryIds } from '../error-message.ts'
import { providerOptions } from '../provider-options/provider-options.ts'

type Members = Readonly<Record<string, unknown>>

/** Replace required members that are invalid. */
const valid: Members = { issuer: 'http://127.0.0.1:8484', clients: [] }

/** Without these members, correct clients, endpoints or scopes would be reported. */
const usedByOthers: readonly string[] = ['scopes', 'plugins']
/** The members that are right or wrong by themselves. */
const independent: readonly string[] = ['issuer', 'keys']

/** The member that a mistake is about. */
const memberOf = (problem: string): string => /^(?:[$\w-]+|<[^>]+>)/u.exec(problem)?.[0] ?? ''

/** Runs a step, and returns its mistakes. */
async function problemsOf(step: () => unknown): Promise<readonly string[]> {
  try {
    await step()
    return []
  } catch (cause) {
    return configurationProblems(cause).map(configurationMessage)
  }
}

/** Returns what the provider refuses. */
const refusalsOf = (configuration: CheckedConfiguration, directory: string) =>
  problemsOf(async () => {
    const options = await providerOptions({ configuration, directory }, memoryDriver(), () => {})
    await (await createProvider({ ...options, keys: unusedKeys(options.keys) })).close()
  })

/** Finds what the provider refuses. Keys are checked by themselves, because it reads them last. */
async function problemsOfProvider(configuration: CheckedConfiguration, directory: string): Promise<readonly string[]> {
  const { issuer, keys } = configuration
  const problems = await refusalsOf(parseConfiguration(configurationSchema, { ...valid, issuer, keys }, ''), directory)
  const rest = problems.length === 0 ? configuration : { ...configuration, keys: {} }
  return [...problems, ...(await problemsOfClients(rest, directory))]
}

/** Finds what the provider refuses, except for keys. */
async function problemsOfClients(configuration: CheckedConfiguration, directory: string): Promise<readonly string[]> {
  const { clients } = configuration
  const problems = await refusalsOf(configuration, directory)
  if (problems.length === 0 || !Array.isArray(clients)) return problems
  const others = await refusalsOf({ ...configuration, clients: [] }, directory)
  return [...problems, ...others, ...(await problemsOfEach(configuration, clients, directory, others))]
}

/** Checks each client as commands and the admin API do, so that no mistake hides another. */
async function problemsOfEach(
  configuration: CheckedConfiguration,
  clients: readonly ClientOptions[],
  directory: string,
  others: readonly string[],
): Promise<readonly string[]> {
  const wrong = others.map(memberOf)
  // Without what they need, correct clients would be reported.
  if (usedByOthers.some((name) => wrong.includes(name))) return []
  const right = Object.entries(configuration).filter(([name]) => !wrong.includes(name))
  const rest = { ...(valid as unknown as CheckedConfiguration), ...Object.fromEntries(right) }
  return withEntryChecks({ configuration: rest, directory }, [], ({ checkClient }) =>
    clients.flatMap((client, index) =>
      typeof client === 'object' && client !== null
        ? entryProblems(client, checkClient, 'clients[0]').problems.map((problem) =>
            configurationMessage(problem).replace(/^clients\[0\]/u, `clients[${index}]`),
          )
        : [],
    ),
  ).catch(() => [])
}

/**
 * Returns all mistakes in a configuration, one sentence each, where `createProvider()` stops at the first kind. A mistake
 * that only exists because of another one is not reported.
 */
export async function allProblems(path: string, environment: NodeJS.ProcessEnv): Promise<readonly string[]> {
  const { file, source, variables } = await readConfiguration(path, environment)
  let current = source
  const named = (all: readonly string[]): readonly string[] => [
    ...new Set(all.map((problem) => withEntryIds(problem, source))),
  ]
  const ofVariables = await problemsOf(() => {
    current = withEnvironment(source, variables)
  })
  await loadPluginsOf(current)
  const ofMembers = await problemsOf(() => parseConfiguration(configurationSchema, current, ''))
  const unset = ofVariables.map(memberOf)
  const problems = [...ofVariables, ...ofMembers.filter((problem) => !unset.includes(memberOf(problem)))]
  const wrong = problems.map(memberOf)
  if (!isJsonObject(current)) return named(problems)
  const areOthersHidden = wrong.some((name) => usedByOthers.includes(name))
  const members = Object.entries(current as Members).filter(
    ([name]) => !wrong.includes(memberOf(quotableName(name))) && !(areOthersHidden && !independent.includes(name)),
  )
  const rest = { ...valid, ...Object.fromEntries(members) }
  let configuration: CheckedConfiguration | undefined
  const ofRest = await problemsOf(() => {
    configuration = parseConfiguration(configurationSchema, rest, '')
  })
  if (configuration === undefined) return named([...problems, ...ofRest])
  return named([...problems, ...(await problemsOfProvider(configuration, dirname(file)))])
}

/**
 * Returns an error of a configuration that cannot be used with all mistakes in it, which `configurationProblems()` returns, and
 * any other error as it is.
 *
 * @param thrown starts with the file, as those of `errorInFile()`
 */
export async function withAllProblems(thrown: unknown, path: string, environment: NodeJS.ProcessEnv): Promise<unknown> {
  const file = resolve(path)
  if (!(thrown instanceof TypeError) || !thrown.message.startsWith(`${file}: `)) return thrown
  const [first = '', ...more] = configurationProblems(thrown).map(configurationMessage)
  const all = await allProblems(file, environment).catch(() => [])
  const others = all.map((problem) => `${file}: ${problem}`)
  return configurationError([first, ...new Set([...more, ...others].filter((problem) => problem !== first))], {
    cause: thrown,
  })
}
