import { readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import {
  type Client,
  clientSchema,
  createProvider,
  type Observer,
  type ProviderOptions,
  parseConfiguration,
  scopeSchema,
} from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { environmentFileName } from '../configuration/environment-file.ts'
import { ownSentence } from '../configuration/in-file.ts'
import { keySettingsOf } from '../configuration/keys.ts'
import type { LoadedConfiguration } from '../configuration/load.ts'
import { providerOptions } from '../configuration/provider-options.ts'
import { configuredStorage } from '../configuration/storage.ts'
import type { Facts, FileFact } from './facts.ts'
import { lookAtStore } from './look-at-store.ts'

type Warning = Facts['warnings'][number]

/** What of a configuration is a secret by itself, wherever it came from. */
function secretsIn({ storage, keys }: LoadedConfiguration['configuration']): readonly string[] {
  const { encryptionSecret } = keySettingsOf(keys)
  const urls = storage.driver === 'redis' ? [storage.url, ...(storage.cluster ?? [])] : []
  // As it was written, too: a URL that was read spells some characters in another way.
  const passwords = urls.flatMap((url) => {
    const read = url === undefined ? '' : new URL(url).password
    return url === undefined || read === '' ? [] : [read, url]
  })
  const password = storage.driver === 'redis' ? storage.password : undefined
  // Of a module that gives its keys itself.
  const privateParts = Array.isArray(keys) ? keys.map((key: { readonly d?: unknown } | null) => key?.d) : []
  return [encryptionSecret, password, ...passwords, ...privateParts].filter(
    (secret) => typeof secret === 'string' && secret !== '',
  ) as string[]
}

function filesOf({ file, directory, configuration }: LoadedConfiguration): readonly FileFact[] {
  const text = readFileSync(file, 'utf8')
  const kind = secretsIn(configuration).some((secret) => text.includes(secret)) ? 'secret' : 'configuration'
  const { jwks } = keySettingsOf(configuration.keys)
  const named: readonly Omit<FileFact, 'mode'>[] = [
    { path: file, kind },
    { path: resolve(directory, environmentFileName), kind: 'secret' },
    ...(jwks === undefined ? [] : [{ path: resolve(directory, jwks), kind: 'secret' as const }]),
    ...(configuration.plugins ?? []).flatMap((entry) =>
      typeof entry === 'string' ? [{ path: resolve(directory, entry), kind: 'configuration' as const }] : [],
    ),
  ]
  return named.flatMap(({ path, kind }) => {
    const stats = statSync(path, { throwIfNoEntry: false })
    // Windows has no such bits.
    const mode = process.platform === 'win32' ? undefined : stats?.mode
    return stats === undefined ? [] : [{ path, kind, mode }]
  })
}

/** Opens the storage as the server would, asks, and closes it. Whatever goes wrong is a fact. */
async function askStore(
  { configuration, directory }: LoadedConfiguration,
  options: ProviderOptions,
): Promise<Pick<Facts, 'store' | 'keys' | 'warnings'>> {
  const { driver } = await configuredStorage(configuration.storage, directory)
  const warnings: Warning[] = []
  // Of the others it was told without the storage.
  const observe: Observer = (event) => {
    if (event.type === 'startup_warning' && event.reason === 'refused_key_stored') warnings.push(event)
  }
  try {
    const provider = await createProvider({ ...options, storage: driver, observe })
    return { store: await lookAtStore(driver), keys: await provider.keys.list(), warnings }
  } catch (cause) {
    return {
      store: { reachable: false, reason: ownSentence(cause).replace(/^storage: /u, '') },
      keys: undefined,
      warnings,
    }
  } finally {
    await driver.dispose?.()
  }
}

/**
 * Looks at everything that the doctor judges.
 *
 * @throws TypeError with one sentence when the configuration itself is wrong.
 */
export async function gather(loaded: LoadedConfiguration): Promise<Facts> {
  const { configuration, directory } = loaded
  const warnings: Warning[] = []
  const options = await providerOptions(loaded, memoryDriver(), (event) => {
    if (event.type === 'startup_warning') warnings.push(event)
  })
  // In memory first: a mistake in the configuration is told also when the store is away.
  const judged = await createProvider(options)
  await judged.close()
  const { store, keys, warnings: ofStore } = await askStore(loaded, options)
  const { clients, scopes, users } = configuration
  const { jwks } = keySettingsOf(configuration.keys)
  const keyFile = jwks === undefined ? undefined : statSync(resolve(directory, jwks))
  return {
    configuration,
    clients: Array.isArray(clients)
      ? clients.map((client, index): Client => parseConfiguration(clientSchema, client, `clients[${index}]`))
      : [],
    clientsElsewhere: !Array.isArray(clients),
    scopes: scopes.map((scope, index) => parseConfiguration(scopeSchema, scope, `scopes[${index}]`)),
    users: Array.isArray(users) ? users : [],
    files: filesOf(loaded),
    keyFileChangedAt: keyFile === undefined ? undefined : Math.floor(keyFile.mtimeMs / 1000),
    keys,
    signingAlgorithms: judged.metadata.id_token_signing_alg_values_supported as readonly string[],
    store,
    warnings: [...warnings, ...ofStore],
    now: Math.floor(Date.now() / 1000),
  }
}
