import { closestName, configurationObject, isJsonObject, type Plugins } from '@grantry/core'
import * as v from 'valibot'
import { type Context, isNamedEntry, named, type PluginHosts, url } from './named/plugin-hosts.ts'

/**
 * The plugins that an entry of `plugins` can name. A plugin is loaded when a configuration names it: all of them take most of
 * the time of a start.
 */
const namedPlugins = {
  admin: async () => (await import('./named/admin.ts')).plugin,
  'client-assertion': async () => {
    const { clientAssertion, clientAssertionSchema } = await import('@grantry/plugins/client-assertion')
    return named(clientAssertionSchema, clientAssertion, {})
  },
  // Uses the client members of `sign-in` for self-described clients. So does `registration`.
  'client-metadata': async () => {
    const { clientMetadata, clientMetadataSchema } = await import('@grantry/plugins/client-metadata')
    return named(clientMetadataSchema, clientMetadata, undefined)
  },
  'device-authorization': async () => (await import('./named/device-authorization.ts')).plugin,
  dpop: async () => {
    const { dpop, dpopSchema } = await import('@grantry/plugins/dpop')
    return named(dpopSchema, dpop, {})
  },
  fapi2: async () => {
    const { fapi2, fapi2Schema } = await import('@grantry/plugins/fapi2')
    return named(fapi2Schema, fapi2, {})
  },
  'id-jag': async () => {
    const { idJag, idJagSchema } = await import('@grantry/plugins/id-jag')
    return named(idJagSchema, idJag, {
      accept: { issuers: [{ issuer: url, jwksUri: url }] },
      issue: { servers: [{ issuer: url, resources: [url], clients: [{ clientId: 'agent', scopes: ['chat'] }] }] },
    })
  },
  'jwt-introspection': async () => {
    const { jwtIntrospection } = await import('@grantry/plugins/jwt-introspection')
    return named(configurationObject({}), jwtIntrospection, undefined)
  },
  mtls: async () => {
    const { mtls, mtlsSchema } = await import('@grantry/plugins/mtls')
    return named(mtlsSchema, mtls, {})
  },
  registration: async () => {
    const { registration, registrationSchema } = await import('@grantry/plugins/registration')
    return named(registrationSchema, registration, undefined)
  },
  'resource-indicators': async () => {
    const { resourceIndicators } = await import('@grantry/plugins/resource-indicators')
    return named(configurationObject({}), resourceIndicators, undefined)
  },
  'sign-in': async () => (await import('./named/sign-in.ts')).plugin,
  'workload-identity': async () => {
    const { workloadIdentity, workloadIdentitySchema } = await import('@grantry/plugins/workload-identity')
    return named(workloadIdentitySchema, workloadIdentity, {
      issuers: [{ platform: 'github' }, { platform: 'spiffe', issuer: 'spiffe://example.com', jwksUri: url }],
    })
  },
} as const

type Table = { readonly [N in keyof typeof namedPlugins]: Awaited<ReturnType<(typeof namedPlugins)[N]>> }
type Name = keyof Table
export const pluginNames = Object.keys(namedPlugins) as readonly Name[]

/** An entry of `plugins` that names a plugin, with its options. */
export type NamedPlugin = { [N in Name]: { name: N } & v.InferInput<Table[N]['schema']> }[Name]

interface LoadedPlugin {
  readonly schema: v.GenericSchema<object> & { readonly entries: v.ObjectEntries }
  readonly create: (options: object, context: Context) => Plugins
  readonly complete: object | undefined
}

const loadedPlugins = new Map<string, LoadedPlugin>()

function loadedPlugin(name: string): LoadedPlugin {
  const plugin = loadedPlugins.get(name)
  if (plugin === undefined) throw new Error(`the plugin ${name} is used before loadNamedPlugins()`)
  return plugin
}

/** Whether an entry names a plugin, with options that are right for it if it was checked. */
export const isNamedPlugin = (value: unknown): value is NamedPlugin => isNamedEntry(value)

/** Whether the configuration can name this plugin. Refuses a list with one name, which an index access would accept. */
export const isPluginName = (name: unknown): name is Name =>
  typeof name === 'string' && Object.hasOwn(namedPlugins, name)

/**
 * Loads the plugins that entries name, before they are checked.
 *
 * @param entries `plugins` as the operator writes it; all plugins if it is absent
 */
export async function loadNamedPlugins(entries: unknown = pluginNames.map((name) => ({ name }))): Promise<void> {
  if (!Array.isArray(entries)) return
  const missing = entries.flatMap((entry) =>
    isNamedPlugin(entry) && isPluginName(entry.name) && !loadedPlugins.has(entry.name) ? [entry.name] : [],
  )
  const load = async (name: Name): Promise<void> => {
    const { schema, create, complete } = (await namedPlugins[name]()) as unknown as LoadedPlugin
    const ofEntry = configurationObject({ name: v.literal(name), ...schema.entries })
    loadedPlugins.set(name, { schema: ofEntry, create, complete })
  }
  await Promise.all([...new Set(missing)].map(load))
}

/** Loads the plugins that a configuration names, also for its tenants, before it is checked. */
export async function loadPluginsOf(configuration: unknown): Promise<void> {
  const memberIn = (value: unknown, name: string): unknown => (isJsonObject(value) ? value[name] : undefined)
  const tenants = memberIn(memberIn(configuration, 'tenants'), 'list')
  const lists = [configuration, ...(Array.isArray(tenants) ? tenants : [])].map((each) => memberIn(each, 'plugins'))
  await Promise.all(lists.map((entries) => loadNamedPlugins(entries ?? [])))
}

/** Plugins that are useless without a function, by the name of their export. */
const withFunctions: Readonly<Record<string, string>> = {
  'jwt-bearer': 'jwtBearer',
  'token-exchange': 'tokenExchange',
}
const alwaysActive: readonly string[] = [
  'authorization-code',
  'client-credentials',
  'password',
  'proof-key',
  'refresh-token',
]

function unknownName(name: string): string {
  if (Object.hasOwn(withFunctions, name)) {
    return `${name} needs a function; in a module configuration, call ${withFunctions[name]}() of @grantry/plugins/${name}`
  }
  if (alwaysActive.includes(name)) return `${name} is always active; remove this entry`
  const closest = closestName(name, pluginNames)
  return `must be one of ${pluginNames.join(', ')}${closest === undefined ? '' : `; did you mean ${closest}?`}`
}

const unknown = v.looseObject(
  {
    name: v.custom<string>(
      () => false,
      ({ input }) => unknownName(String(input)),
    ),
  },
  `is required: one of ${pluginNames.join(', ')}`,
)

/** Chosen by the name of the plugin. The errors of a union would not name the path. */
export function namedPluginSchema(name: string): LoadedPlugin['schema'] {
  return isPluginName(name) ? loadedPlugin(name).schema : unknown
}

/**
 * Creates the plugin that a validated entry names.
 *
 * @param entries all entries: the sign-in has a page for devices if a device authorization has none
 * @param hosts the functions of the server that plugins use; for a provider that serves requests
 */
export function createNamedPlugin(plugin: NamedPlugin, entries: readonly unknown[], hosts: PluginHosts = {}): Plugins {
  const { name, ...options } = plugin
  // The schema of the name has checked them.
  return loadedPlugin(name).create(options, { ...hosts, entries, at: entries.indexOf(plugin) })
}

/** Returns the plugins that add something that clients can use, with all that they can add. All must be loaded. */
export function completePlugins(): readonly { readonly name: NamedPlugin['name']; readonly plugins: Plugins }[] {
  const entries = pluginNames.flatMap((name) => {
    const options = loadedPlugin(name).complete
    return options === undefined ? [] : [{ name, ...options } as NamedPlugin]
  })
  return entries.map((entry) => ({ name: entry.name, plugins: createNamedPlugin(entry, entries) }))
}
