import { dirname } from 'node:path'
import { configurationProblems, createProvider, isJsonObject, parseConfiguration, quotableName } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { withEnvironment } from '../configuration/environment.ts'
import { readConfiguration } from '../configuration/load.ts'
import { providerOptions } from '../configuration/provider-options.ts'
import { type CheckedConfiguration, configurationSchema } from '../configuration/schema.ts'
import { configurationMessage } from '../error-message.ts'

type Members = Readonly<Record<string, unknown>>

/** Replace required members that are invalid. */
const valid: Members = { issuer: 'http://127.0.0.1:8484', clients: [] }

/** Without these members, correct clients, endpoints or scopes would be reported. */
const usedByOthers: readonly string[] = ['scopes', 'plugins']
/** The members that are right or wrong by themselves. */
const independent: readonly string[] = ['issuer', 'keys']

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
    await (await createProvider(options)).close()
  })

/** Finds what the provider refuses. Keys are checked by themselves, because it reads them last. */
async function problemsOfProvider(configuration: CheckedConfiguration, directory: string): Promise<readonly string[]> {
  const { issuer, keys } = configuration
  const found = await refusalsOf(parseConfiguration(configurationSchema, { ...valid, issuer, keys }, ''), directory)
  const rest = found.length === 0 ? configuration : { ...configuration, keys: {} }
  return [...found, ...(await problemsOfClients(rest, directory))]
}

/** Finds what the provider refuses but for keys. Clients with mistakes hide those of others, and are removed. */
async function problemsOfClients(configuration: CheckedConfiguration, directory: string): Promise<readonly string[]> {
  const { clients } = configuration
  if (!Array.isArray(clients)) return refusalsOf(configuration, directory)
  let kept = clients.map((client, index) => [client, index] as const)
  const found: string[] = []
  for (;;) {
    const problems = await refusalsOf({ ...configuration, clients: kept.map(([client]) => client) }, directory)
    const tried = kept
    const positionOf = (index: string): number => tried[Number(index)]?.[1] ?? Number(index)
    found.push(
      ...problems.map((each) => each.replace(/^clients\[(\d+)\]/u, (_, index) => `clients[${positionOf(index)}]`)),
    )
    const wrong = new Set(problems.flatMap((each) => /^clients\[(\d+)\]/u.exec(each)?.[1] ?? []).map(Number))
    if (wrong.size === 0) return found
    kept = kept.filter((_, index) => !wrong.has(index))
  }
}

/**
 * Returns all mistakes in a configuration, one sentence each, where `createProvider()` stops at the first kind. A mistake
 * that only exists because of another one is not reported.
 */
export async function allProblems(path: string, environment: NodeJS.ProcessEnv): Promise<readonly string[]> {
  const { file, source, variables } = await readConfiguration(path, environment)
  let current = source
  const ofVariables = await problemsOf(() => {
    current = withEnvironment(source, variables)
  })
  const ofMembers = await problemsOf(() => parseConfiguration(configurationSchema, current, ''))
  const memberOf = (problem: string): string => /^(?:[$\w-]+|<[^>]+>)/u.exec(problem)?.[0] ?? ''
  const unset = ofVariables.map(memberOf)
  const found = [...ofVariables, ...ofMembers.filter((problem) => !unset.includes(memberOf(problem)))]
  const wrong = found.map(memberOf)
  if (!isJsonObject(current)) return found
  const areOthersHidden = wrong.some((name) => usedByOthers.includes(name))
  const members = Object.entries(current as Members).filter(
    ([name]) => !wrong.includes(memberOf(quotableName(name))) && !(areOthersHidden && !independent.includes(name)),
  )
  const rest = { ...valid, ...Object.fromEntries(members) }
  let configuration: CheckedConfiguration | undefined
  const ofRest = await problemsOf(() => {
    configuration = parseConfiguration(configurationSchema, rest, '')
  })
  if (configuration === undefined) return [...new Set([...found, ...ofRest])]
  return [...new Set([...found, ...(await problemsOfProvider(configuration, dirname(file)))])]
}
