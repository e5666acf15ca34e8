import { readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import {
  type ClientWithSecrets,
  createProvider,
  directorySchemasOf,
  type Observer,
  type ProviderOptions,
  parseConfiguration,
  type ScopeWithSecrets,
} from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { adapterOfThisRuntime } from '../adapter.ts'
import { configuredClients } from '../configuration/configured-clients.ts'
import { keySettingsOf } from '../configuration/configured-keys.ts'
import { environmentFileName } from '../configuration/environment-file.ts'
import type { LoadedConfiguration } from '../configuration/load.ts'
import { configuredStorage } from '../configuration/storage/storage-drivers.ts'
import { openTls } from '../configuration/tls.ts'
import { unusedKeys } from '../configuration/unused-keys.ts'
import { namesDriver } from '../configuration/users-schema.ts'
import { configurationMessage } from '../error-message.ts'
import { openAccounts } from '../provider-options/open-accounts.ts'
import { providerOptions } from '../provider-options/provider-options.ts'
import { isUserDatabase } from '../users/user-databases.ts'
import type { Facts, FileFact } from './facts.ts'
import { inspectStore } from './inspect-store.ts'
import { problemOfMail, problemsOfProviders } from './reached.ts'
import { problemsOfStored, readStoredEntries } from './stored-entries.ts'
import { tenantFacts } from './tenant-clients.ts'
import { withoutKeyWrites } from './without-key-writes.ts'

type Warning = Facts['warnings'][number]

/** Returns the secrets in a configuration: everything that must not be readable in the file. */
function secretsIn({ storage, keys, users }: LoadedConfiguration['configuration']): readonly string[] {
  const { encryptionSecret } = keySettingsOf(keys)
  const urls = [
    ...(storage.driver === 'redis' ? [storage.url, ...(storage.cluster ?? [])] : []),
    ...(storage.driver === 'postgresql' ? [storage.url] : []),
    ...(namesDriver(users) ? [users.url] : []),
  ]
  // The original URL, too: parsing percent-encodes some characters of the password.
  const passwords = urls.flatMap((url) => {
    const read = url === undefined ? '' : new URL(url).password
    return url === undefined || read === '' ? [] : [read, url]
  })
  const password = storage.driver === 'redis' ? storage.password : undefined
  const bindPassword = namesDriver(users) && users.driver === 'ldap' ? users.bindPassword : undefined
  // A module configuration can contain private keys.
  const privateParts = Array.isArray(keys) ? keys.map((key: { readonly d?: unknown } | null) => key?.d) : []
  return [encryptionSecret, password, bindPassword, ...passwords, ...privateParts].filter(
    (secret) => typeof secret === 'string' && secret !== '',
  ) as string[]
}

function filesOf({ file, directory, configuration }: LoadedConfiguration): readonly FileFact[] {
  const text = readFileSync(file, 'utf8')
  const kind = secretsIn(configuration).some((secret) => text.includes(secret)) ? 'secret' : 'configuration'
  const { jwks } = keySettingsOf(configuration.keys)
  const { tls } = configuration
  const ofTls = [tls?.certificate, tls?.clientAuthorities].flatMap((path) => path ?? [])
  const named: readonly Omit<FileFact, 'mode'>[] = [
    { path: file, kind },
    { path: resolve(directory, environmentFileName), kind: 'secret' },
    ...(jwks === undefined ? [] : [{ path: resolve(directory, jwks), kind: 'secret' as const }]),
    ...(tls === undefined ? [] : [{ path: resolve(directory, tls.key), kind: 'secret' as const }]),
    ...(namesDriver(configuration.users) && configuration.users.ca !== undefined
      ? [{ path: resolve(directory, configuration.users.ca), kind: 'configuration' as const }]
      : []),
    ...ofTls.map((path) => ({ path: resolve(directory, path), kind: 'configuration' as const })),
    ...(configuration.plugins ?? []).flatMap((entry) =>
      typeof entry === 'string' ? [{ path: resolve(directory, entry), kind: 'configuration' as const }] : [],
    ),
  ]
  return named.flatMap(({ path, kind }) => {
    const stats = statSync(path, { throwIfNoEntry: false })
    // Windows has no permission bits.
    const mode = process.platform === 'win32' ? undefined : stats?.mode
    return stats === undefined ? [] : [{ path, kind, mode }]
  })
}

/** Opens the storage as the server does, inspects it and closes it. A failure is returned as a fact. */
async function openAndInspectStore(
  { configuration, directory }: LoadedConfiguration,
  options: ProviderOptions,
): Promise<Pick<Facts, 'store' | 'keys' | 'warnings'>> {
  const { driver } = await configuredStorage(configuration.storage, directory)
  const warnings: Warning[] = []
  // All other warnings were collected from the provider in memory.
  const observe: Observer = (event) => {
    if (event.type === 'startup_warning' && event.reason === 'refused_key_stored') warnings.push(event)
  }
  try {
    const provider = await createProvider({ ...options, storage: withoutKeyWrites(driver), observe })
    return { store: await inspectStore(driver), keys: await provider.keys.list(), warnings }
  } catch (cause) {
    return {
      store: { reachable: false, reason: configurationMessage(cause).replace(/^storage: /u, '') },
      keys: undefined,
      warnings,
    }
  } finally {
    await driver.dispose?.()
  }
}

/** Opens the database of the users as the server does, and closes it. */
async function problemOfUsers({ users }: ProviderOptions): Promise<string | undefined> {
  if (!isUserDatabase(users)) return undefined
  try {
    await users.open()
    return undefined
  } catch (cause) {
    return configurationMessage(cause)
  } finally {
    await users.close()
  }
}

/** Opens the table of the accounts as the server does, and closes it. */
async function problemOfAccounts({ configuration, directory }: LoadedConfiguration): Promise<string | undefined> {
  try {
    await (await openAccounts({ configuration, directory }))?.close()
    return undefined
  } catch (cause) {
    return configurationMessage(cause)
  }
}

/**
 * Collects the facts that the doctor checks.
 *
 * @throws TypeError with a one-line message if the configuration is invalid.
 */
export async function collectFacts(loaded: LoadedConfiguration): Promise<Facts> {
  const { configuration, directory } = loaded
  const warnings: Warning[] = []
  const stored = await readStoredEntries(loaded)
  // The storage in memory has none of them, and clients of the configuration can have the scopes.
  const complete = { ...configuration, scopes: [...configuration.scopes, ...stored.scopes] }
  const options = await providerOptions({ configuration: complete, directory }, memoryDriver(), (event) => {
    if (event.type === 'startup_warning') warnings.push(event)
  })
  openTls(loaded, await adapterOfThisRuntime())
  // First in memory, so that an invalid configuration is reported even if the storage is unavailable.
  const provider = await createProvider({ ...options, keys: unusedKeys(options.keys) })
  const configured = new Set(configuredClients(configuration).map(({ clientId }) => clientId))
  const storedProblems = problemsOfStored(stored, configured, provider)
  const ofProvider = provider.findings()
  await provider.close()
  const { store, keys, warnings: ofStore } = await openAndInspectStore(loaded, options)
  const { clients, scopes, users } = configuration
  const { clientSchema, scopeSchema } = directorySchemasOf(options.plugins)
  const { tenantFindings, ...ofTenants } = await tenantFacts(loaded)
  const { jwks } = keySettingsOf(configuration.keys)
  const keyFile = jwks === undefined ? undefined : statSync(resolve(directory, jwks))
  return {
    configuration,
    clients: Array.isArray(clients)
      ? clients.map((client, index): ClientWithSecrets => parseConfiguration(clientSchema, client, `clients[${index}]`))
      : [],
    ...ofTenants,
    hasExternalClients: !Array.isArray(clients),
    storedClients: stored.clients.flatMap((client) => {
      try {
        return [parseConfiguration(clientSchema, client, '') as ClientWithSecrets]
      } catch {
        // The mistake is in `storedProblems`.
        return []
      }
    }),
    mailProblem: await problemOfMail(configuration),
    unreachable: await problemsOfProviders(configuration),
    scopes: scopes.map((scope, index): ScopeWithSecrets => parseConfiguration(scopeSchema, scope, `scopes[${index}]`)),
    users: Array.isArray(users) ? users : [],
    userDatabaseProblem: (await problemOfUsers(options)) ?? (await problemOfAccounts(loaded)),
    files: filesOf(loaded),
    keyFileChangedAt: keyFile === undefined ? undefined : Math.floor(keyFile.mtimeMs / 1000),
    keys,
    signingAlgorithms: provider.metadata.id_token_signing_alg_values_supported as readonly string[],
    metadata: provider.metadata,
    store,
    storedProblems,
    ofProvider: [...ofProvider, ...tenantFindings],
    warnings: [...warnings, ...ofStore],
    now: Math.floor(Date.now() / 1000),
  }
}
