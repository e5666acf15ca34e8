// Generates the JSON Schema of the server configuration from the schemas that validate it.
import { readFileSync } from 'node:fs'
import { createJsonSchema, type SchemaNode } from '../packages/administration/src/api/json-schema.ts'
import * as abuse from '../packages/core/src/abuse/abuse-control.ts'
import { lifetimeSchema, maxLifetime } from '../packages/core/src/config-schema.ts'
import type { MemberTexts } from '../packages/core/src/directory/member.ts'
import { secretsSchema } from '../packages/core/src/directory/secret.ts'
import { endpointNames } from '../packages/core/src/endpoints/built-in.ts'
import { providerOptionsSchema } from '../packages/core/src/options.ts'
import { collectParts } from '../packages/core/src/parts/collect-parts.ts'
import type { Plugin } from '../packages/core/src/parts/plugin.ts'
import { type DirectorySchemas, directorySchemasOf } from '../packages/core/src/parts/registry.ts'
import type { JsonObject } from '../packages/core/src/types.ts'
import { settingsSchema as keys } from '../packages/server/src/configuration/configured-keys.ts'
import { objectSchema as consoleOptions } from '../packages/server/src/configuration/console.ts'
import { orVariable } from '../packages/server/src/configuration/environment.ts'
import {
  completePlugins,
  createNamedPlugin,
  loadNamedPlugins,
  namedPluginSchema,
  pluginNames,
} from '../packages/server/src/configuration/named-plugins.ts'
import { configurationSchema } from '../packages/server/src/configuration/schema.ts'
import { schemas as drivers } from '../packages/server/src/configuration/storage/storage-drivers.ts'
import { listedTenantSchema, pluginDifference } from '../packages/server/src/configuration/tenants-schema.ts'
import { userDatabaseSchemas, userSchema } from '../packages/server/src/configuration/users-schema.ts'
import { schemaAddress } from '../packages/server/src/init/template.ts'
import { numericMember } from '../packages/server/src/numeric.ts'
import { listenerSchema } from '../packages/server/src/observability/metrics-configuration.ts'
import { builtIn } from '../packages/server/src/provider-options/provider-options.ts'
import { configuredProviderSchema, configuredProviderSchemas } from '../plugins/upstream/presets.ts'
import { commentOf } from './option-comments.ts'
import { describeSettings } from './setting-descriptions.ts'

await loadNamedPlugins()
const { entries } = configurationSchema
const { entries: options } = providerOptionsSchema
const { sha256, sha512, expiresAt } = secretsSchema.pipe[0].item.entries
const { passwords, credentials, validation, waitingRequests } = entries.abuseControl.wrapped.entries

/** Clients and scopes with the members that the plugins of a server add to them, and others. */
export const describedMembers = (others: readonly Plugin[] = []): DirectorySchemas =>
  directorySchemasOf([builtIn(), ...completePlugins().map(({ plugins }) => plugins), ...others])

/** The endpoints of the core and of the plugins that an entry can name. */
const allEndpoints: readonly string[] = [
  ...endpointNames,
  ...collectParts([
    completePlugins().map(({ plugins }) => plugins),
    createNamedPlugin({ name: 'admin', clients: ['console'] }, []),
    createNamedPlugin({ name: 'registration', scopes: ['openid'] }, []),
  ]).flatMap(({ part }) => (part.kind === 'endpoint' ? [part.name] : [])),
]

const listOf = (schema: unknown): JsonObject => ({ type: 'array', items: convert(schema) })
const or = (first: JsonObject, schema: unknown): JsonObject => ({ anyOf: [first, convert(schema)] })

/** Adds what administrators read about members. */
function explained(schema: unknown, texts: MemberTexts): JsonObject {
  const { properties, ...object } = convert(schema)
  const members = Object.entries(properties as Readonly<Record<string, JsonObject>>).map(([name, member]) => {
    const { title, text } = texts[name] ?? {}
    return [name, { ...member, ...(title !== undefined && { title, description: text }) }]
  })
  return { ...object, properties: Object.fromEntries(members) }
}

/** JSON Schemas for valibot schemas whose rule is a function or depends on the input. */
const overrides = new Map<unknown, () => JsonObject>([
  [lifetimeSchema, () => ({ type: 'integer', minimum: 1, maximum: maxLifetime })],
  [sha256.wrapped, () => ({ type: 'string' })],
  [sha512.wrapped, () => ({ type: 'string' })],
  [expiresAt.wrapped, () => ({ type: ['integer', 'string'] })],
  [userSchema.entries.claims.wrapped, () => ({ type: 'object' })],
  [
    options.endpoints.wrapped,
    () => ({
      type: 'object',
      properties: Object.fromEntries(
        allEndpoints.map((name) => [name, { anyOf: [{ type: 'boolean' }, { type: 'string', pattern: '^/' }] }]),
      ),
      additionalProperties: false,
    }),
  ],
  [entries.storage.wrapped, () => ({ oneOf: Object.values(drivers).map(convert) })],
  [entries.keys.wrapped, () => convert(keys)],
  [entries.users.wrapped, () => ({ anyOf: [listOf(userSchema), ...Object.values(userDatabaseSchemas).map(convert)] })],
  [
    entries.plugins.wrapped,
    () => ({
      type: 'array',
      items: { anyOf: [{ type: 'string' }, ...pluginNames.map((name) => convert(namedPluginSchema(name)))] },
    }),
  ],
  [
    pluginDifference,
    () => ({
      type: 'object',
      properties: { name: { enum: pluginNames } },
      required: ['name'],
    }),
  ],
  [entries.metrics.wrapped, () => or({ type: 'boolean' }, listenerSchema)],
  [entries.console.wrapped, () => or({ type: 'boolean' }, consoleOptions)],
  [passwords.wrapped, () => convert(abuse.passwords.wrapped)],
  [configuredProviderSchema, () => ({ anyOf: Object.values(configuredProviderSchemas).map(convert) })],
  [credentials.wrapped, () => or({ const: false }, abuse.credentials)],
  [validation.wrapped, () => or({ const: false }, abuse.validation)],
  [waitingRequests.wrapped, () => or({ const: false }, abuse.waitingRequests)],
])

/** Options that the configuration passes through use the stricter schemas of the provider. Its numbers can be variables. */
const judgedByProvider = Object.fromEntries(
  Object.entries(options)
    .filter(
      ([name]) =>
        name in entries && !['keys', 'storage', 'clients', 'scopes', 'users', 'plugins', 'abuseControl'].includes(name),
    )
    .map(([name, option]) => {
      const { type, wrapped } = option as SchemaNode
      const isNumber = type === 'optional' && wrapped?.type === 'number'
      return [name, isNumber ? numericMember(option as unknown as Parameters<typeof numericMember>[0]) : option]
    }),
)

/** Functions are for module configurations only. */
const isFunction = ({ wrapped }: SchemaNode): boolean => wrapped?.message === 'must be a function'

const convert = createJsonSchema({
  instead: (schema) => overrides.get(schema)?.(),
  member(name, schema, names) {
    if (isFunction(schema)) return false
    const description = commentOf(name, names)
    return description === undefined ? {} : { description }
  },
  value: orVariable,
  // A schema that accepts every value would accept what the server rejects.
  unknown(type) {
    throw new Error(`The configuration has a schema of the unsupported type ${type}: add it to the overrides`)
  },
})

const { version }: { readonly version: string } = JSON.parse(
  readFileSync(new URL('../packages/server/package.json', import.meta.url), 'utf8'),
)

/**
 * Returns the JSON Schema that `grantry` publishes as `dist/configuration.schema.json`.
 *
 * @param others plugins that are not named in a configuration
 */
export function configurationJsonSchema(others: readonly Plugin[] = []): JsonObject {
  const { clientSchema, clientTexts, scopeSchema, scopeTexts } = describedMembers(others)
  const clients = () => ({ type: 'array', items: explained(clientSchema, clientTexts) })
  const scopes = () => ({ type: 'array', items: explained(scopeSchema, scopeTexts) })
  overrides.set(entries.clients, clients).set(listedTenantSchema.entries.clients.wrapped, clients)
  overrides.set(entries.scopes.wrapped, scopes).set(listedTenantSchema.entries.scopes.wrapped, scopes)
  const schema = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    $id: schemaAddress(version),
    title: 'The configuration of a Grantry server',
    ...convert({ ...configurationSchema, entries: { ...entries, ...judgedByProvider } }),
  }
  describeSettings(schema)
  return schema
}
