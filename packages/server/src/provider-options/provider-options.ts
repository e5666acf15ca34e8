import { resolve } from 'node:path'
import { storedEntries } from '@grantry/administration'
import {
  type AbuseControlOptions,
  type AtomicDriver,
  type EntryKind,
  type EntryStore,
  type Observer,
  openEntries,
  type Plugin,
  type Plugins,
  type ProviderOptions,
  type UserService,
} from '@grantry/core'
import { authorizationCode } from '@grantry/plugins/authorization-code'
import { clientCredentials } from '@grantry/plugins/client-credentials'
import { password } from '@grantry/plugins/password'
import { proofKey } from '@grantry/plugins/proof-key'
import { refreshToken } from '@grantry/plugins/refresh-token'
import { configuredClients } from '../configuration/configured-clients.ts'
import { configuredKeys } from '../configuration/configured-keys.ts'
import { consolePlugins, withConsoleClient } from '../configuration/console-client.ts'
import { importModule } from '../configuration/import-module.ts'
import type { LoadedConfiguration } from '../configuration/load.ts'
import { assertCurrentCode } from '../configuration/loaded-code.ts'
import type { PluginHosts } from '../configuration/named/plugin-hosts.ts'
import { createNamedPlugin, isNamedPlugin, isPluginName } from '../configuration/named-plugins.ts'
import type { CheckedConfiguration } from '../configuration/schema.ts'
import { isUserList } from '../configuration/users-schema.ts'
import { errorMessage } from '../error-message.ts'
import { configuredUsers } from '../users/configured-users.ts'
import { hostUsers } from '../users/user-databases.ts'
import { usersWithStored } from '../users/users-with-stored.ts'
import { assertAccounts } from './assert-accounts.ts'

/**
 * Returns the plugin that serves the clients and scopes in the storage.
 *
 * @param cacheFor seconds until running servers see a change of a client
 * @throws TypeError when one is in the configuration and in the storage.
 */
async function storedDirectory(
  configuration: CheckedConfiguration,
  { entries, cacheFor }: { readonly entries: EntryStore; readonly cacheFor: number },
): Promise<Plugin> {
  async function assertNotStored(kind: EntryKind, ids: Iterable<string>): Promise<void> {
    const stored = await Promise.all([...ids].map((id) => entries.get(kind, id)))
    const [twice] = stored.flatMap((entry) => entry ?? [])
    if (twice === undefined) return
    throw new TypeError(
      `${kind}s: the ${kind} ${twice.id} is in the storage, too; remove it here, or there with grantry ${kind}s remove`,
    )
  }

  const clientIds = configuredClients(configuration).map(({ clientId }) => clientId)
  const scopeNames = configuration.scopes.map(({ name }) => name)
  await Promise.all([assertNotStored('client', clientIds), assertNotStored('scope', scopeNames)])
  return storedEntries({ entries, cacheFor })
}

/** The plugins of every server. */
export const builtIn = (): Plugins => [clientCredentials(), password(), authorizationCode(), proofKey(), refreshToken()]

async function loadPlugin(
  entry: string | object,
  index: number,
  entries: readonly unknown[],
  directory: string,
  hosts: PluginHosts,
): Promise<Plugins> {
  if (isNamedPlugin(entry)) return createNamedPlugin(entry, entries, hosts)
  if (typeof entry !== 'string') return entry as Plugins
  const file = resolve(directory, entry)
  try {
    await assertCurrentCode(file)
    const exported = await importModule(file)
    const plugin: unknown = typeof exported === 'function' ? await exported() : exported
    // A TypeScript module without a default export is its own default.
    if (typeof plugin !== 'object' || plugin === null || !(Array.isArray(plugin) || 'kind' in plugin))
      throw new TypeError('its default export is neither a plugin nor a function that returns one')
    return plugin as Plugins
  } catch (cause) {
    const hint = isPluginName(entry) ? `; for the plugin of this name, write { "name": "${entry}" }` : ''
    throw new TypeError(`plugins[${index}]: cannot load ${entry}: ${errorMessage(cause)}${hint}`, { cause })
  }
}

/** `enabled: false` turns off all limits except the one for passwords. */
function abuseControlOf({ abuseControl: { enabled, ...limits } }: CheckedConfiguration): AbuseControlOptions {
  return enabled ? limits : { ...limits, credentials: false, validation: false }
}

const defaultHostCalls = 128

/**
 * Returns the limit of concurrent calls per host function. An eighth of `maxRequests` leaves places free when all seven
 * functions hang, so that endpoints that do not need them still respond.
 */
function hostCallsOf({ maxHostCalls, maxRequests }: CheckedConfiguration): number | undefined {
  if (maxHostCalls !== undefined || maxRequests === undefined) return maxHostCalls
  return Math.max(1, Math.min(defaultHostCalls, Math.floor(maxRequests / 8)))
}

/** Seconds until running servers see a change of a client or user. */
const cacheFor = 5

/** @throws TypeError when the storage cannot keep entries. */
async function entriesIn({ issuer }: CheckedConfiguration, storage: AtomicDriver): Promise<EntryStore> {
  await storage.open?.()
  return openEntries({ issuer, storage })
}

/** @throws TypeError when a user is in the configuration and in the storage. */
async function userServiceOf(
  { users }: CheckedConfiguration,
  directory: string,
  entries: EntryStore | undefined,
): Promise<UserService> {
  if (!isUserList(users)) return hostUsers(users, directory)
  return entries === undefined ? configuredUsers(users) : usersWithStored(users, { entries, cacheFor })
}

/**
 * Returns the options of the provider for a configuration.
 *
 * @param hosts the functions of the server that plugins use; for a provider that serves requests
 */
export async function providerOptions(
  { configuration, directory }: Pick<LoadedConfiguration, 'configuration' | 'directory'>,
  storage: AtomicDriver,
  observe: Observer,
  hosts: PluginHosts = {},
): Promise<ProviderOptions> {
  const { authorizationEndpoint, bodyLimit } = configuration
  const { refusedSecrets, storageTimeLimit, hostTimeLimit } = configuration
  const maxHostCalls = hostCallsOf(configuration)
  assertAccounts(configuration)
  const plugins = withConsoleClient(configuration)
  const loaded = await Promise.all(plugins.map((entry, index) => loadPlugin(entry, index, plugins, directory, hosts)))
  const entries = configuration.administration ? await entriesIn(configuration, storage) : undefined
  return {
    issuer: configuration.issuer,
    keys: await configuredKeys(configuration.keys, directory),
    storage,
    ...(refusedSecrets !== undefined && { refusedSecrets }),
    ...(storageTimeLimit !== undefined && { storageTimeLimit }),
    ...(hostTimeLimit !== undefined && { hostTimeLimit }),
    ...(maxHostCalls !== undefined && { maxHostCalls }),
    clients: configuration.clients,
    scopes: configuration.scopes,
    users: await userServiceOf(configuration, directory, entries),
    plugins: [
      builtIn(),
      ...loaded,
      ...(await consolePlugins(configuration, loaded)),
      entries && (await storedDirectory(configuration, { entries, cacheFor })),
    ],
    endpoints: configuration.endpoints,
    introspection: configuration.introspection,
    clientTokenSubject: configuration.clientTokenSubject,
    unavailableScopes: configuration.unavailableScopes,
    clockTolerance: configuration.clockTolerance,
    ...(authorizationEndpoint !== undefined && { authorizationEndpoint }),
    ...(bodyLimit !== undefined && { bodyLimit }),
    abuseControl: abuseControlOf(configuration),
    observe,
    traceHeaders: true,
  }
}
