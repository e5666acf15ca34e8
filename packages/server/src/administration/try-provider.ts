import { type RefusedError, refused } from '@grantry/administration'
import { algorithms, configurationProblems, createProvider, type Provider, type ScopeOptions } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { adapterOfThisRuntime } from '../adapter.ts'
import { configuredKeys, keySettingsOf } from '../configuration/configured-keys.ts'
import type { LoadedConfiguration } from '../configuration/load.ts'
import type { CheckedConfiguration } from '../configuration/schema.ts'
import { unusedKeys } from '../configuration/unused-keys.ts'
import { entryProblems, memberIn } from './entry-problems.ts'

type Loaded = Pick<LoadedConfiguration, 'configuration' | 'directory'>

/** The place of a checked value in the configuration, and its name in errors. */
export interface Tried {
  readonly path: string
  /** Such as `client web`. */
  readonly called: string
}

/** Returns the refusal of a value that the provider refuses, with all mistakes. */
export function refusedByProvider(
  cause: unknown,
  { path, called }: Tried,
  problems: readonly string[] = configurationProblems(cause),
): RefusedError {
  // The id that follows the path is in `called`.
  const [first = '', ...others] = problems.map((problem) =>
    problem.replaceAll(path, called).replace(/ \("[^"]*"\)(?=:)/u, ''),
  )
  const member = memberIn((cause as Error).message, path)
  return refused('invalid', first, { member: member === '' ? undefined : member, others, cause })
}

/**
 * Returns the settings of the keys. If the file with the keys cannot be read where a plan is made, a client can have
 * any algorithm, and the server checks it later.
 */
async function keysToCheckWith({ configuration: { keys }, directory }: Loaded): Promise<CheckedConfiguration['keys']> {
  if (keySettingsOf(keys).jwks === undefined) return keys
  return configuredKeys(keys, directory).then(
    () => keys,
    () => ({ algorithms: [...algorithms] }),
  )
}

/** Creates a provider on an empty storage, with all plugins of the configuration. The caller closes it. */
async function openTrial(loaded: Loaded, changes: Pick<CheckedConfiguration, 'clients' | 'scopes'>): Promise<Provider> {
  const configuration = { ...loaded.configuration, ...changes, keys: await keysToCheckWith(loaded) }
  // Loaded on demand: commands that change nothing need no provider.
  const { providerOptions } = await import('../provider-options/provider-options.ts')
  const options = await providerOptions({ ...loaded, configuration }, memoryDriver(), () => {})
  const { runtime } = await adapterOfThisRuntime()
  return createProvider({ ...options, keys: unusedKeys(options.keys), runtime })
}

/** The checks of a provider for clients and scopes, for commands, plans and the admin API of a running server. */
export type EntryChecks = Pick<Provider, 'checkClient' | 'checkScope'>

/** Calls `use` with the checks of the provider of a configuration, which has these scopes besides its own. */
export async function withEntryChecks<T>(
  loaded: Loaded,
  moreScopes: readonly ScopeOptions[],
  use: (checks: EntryChecks) => T,
): Promise<T> {
  const scopes = [...loaded.configuration.scopes, ...moreScopes]
  const provider = await openTrial(loaded, { clients: [], scopes })
  try {
    return use(provider)
  } finally {
    await provider.close()
  }
}

/** Runs a check of the provider. @throws RefusedError `invalid` with all that it refuses about the entry */
export function checked<T extends object>(entry: T, check: (entry: T) => void, tried: Tried): void {
  const { problems, cause } = entryProblems(entry, check, tried.path)
  if (problems.length > 0) throw refusedByProvider(cause, tried, problems)
}

/**
 * Creates the provider of a configuration on an empty storage, and closes it.
 *
 * @throws RefusedError `invalid` when the provider refuses the configuration
 */
export async function tryProvider(
  loaded: Loaded,
  changes: Pick<CheckedConfiguration, 'clients' | 'scopes'>,
  tried: Tried,
): Promise<void> {
  const provider = await openTrial(loaded, changes).catch((cause: unknown) => {
    throw refusedByProvider(cause, tried)
  })
  await provider.close()
}
