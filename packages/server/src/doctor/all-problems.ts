import { dirname } from 'node:path'
import { configurationProblems, createProvider, parseConfiguration } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { withEnvironment } from '../configuration/environment.ts'
import { readConfiguration } from '../configuration/load.ts'
import { providerOptions } from '../configuration/provider-options.ts'
import { type CheckedConfiguration, configurationSchema } from '../configuration/schema.ts'
import { configurationMessage } from '../error-message.ts'

type Members = Readonly<Record<string, unknown>>

/** Replace required members that are invalid. */
const valid: Members = { issuer: 'http://127.0.0.1:8484', clients: [] }

/** Without these members, correct clients would be reported. */
const usedByClients: readonly string[] = ['scopes', 'plugins']

/** Rounds in which mistakes are removed to find those that they hide. */
const maxRounds = 4

/** Runs a step, and returns its mistakes. */
async function problemsOf(step: () => unknown): Promise<readonly string[]> {
  try {
    await step()
    return []
  } catch (cause) {
    return configurationProblems(cause).map(configurationMessage)
  }
}

/** Finds what the provider refuses. Wrong keys, and clients with mistakes, hide other mistakes and are removed. */
async function problemsOfProvider(configuration: CheckedConfiguration, directory: string): Promise<readonly string[]> {
  const { clients } = configuration
  let kept = Array.isArray(clients) ? clients.map((client, index) => [client, index] as const) : undefined
  let { keys } = configuration
  const found: string[] = []
  for (let round = 0; round < maxRounds; round += 1) {
    const tried = { ...configuration, keys, ...(kept !== undefined && { clients: kept.map(([client]) => client) }) }
    const problems = await problemsOf(async () => {
      const options = await providerOptions({ configuration: tried, directory }, memoryDriver(), () => {})
      await (await createProvider(options)).close()
    })
    const written = kept
    const positionOf = (index: string): number => written?.[Number(index)]?.[1] ?? Number(index)
    found.push(
      ...problems.map((each) => each.replace(/^clients\[(\d+)\]/u, (_, index) => `clients[${positionOf(index)}]`)),
    )
    const wrong = new Set(problems.flatMap((each) => /^clients\[(\d+)\]/u.exec(each)?.[1] ?? []).map(Number))
    const areKeysWrong = problems.some((each) => each.startsWith('keys'))
    if (wrong.size === 0 && !areKeysWrong) break
    if (areKeysWrong) keys = {}
    kept = kept?.filter((_, index) => !wrong.has(index))
  }
  return found
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
  const memberOf = (problem: string): string => /^[$\w]+/u.exec(problem)?.[0] ?? ''
  const unset = ofVariables.map(memberOf)
  const found = [...ofVariables, ...ofMembers.filter((problem) => !unset.includes(memberOf(problem)))]
  const wrong = found.map(memberOf)
  const isObject = typeof current === 'object' && current !== null && !Array.isArray(current)
  if (!isObject || wrong.some((name) => usedByClients.includes(name))) return found
  const members = Object.entries(current as Members).filter(([name]) => !wrong.includes(name))
  const rest = { ...valid, ...Object.fromEntries(members) }
  let configuration: CheckedConfiguration | undefined
  const ofRest = await problemsOf(() => {
    configuration = parseConfiguration(configurationSchema, rest, '')
  })
  if (configuration === undefined) return [...new Set([...found, ...ofRest])]
  return [...new Set([...found, ...(await problemsOfProvider(configuration, dirname(file)))])]
}
