// Generates the JSON Schema of the server configuration from the schemas that validate it.
import { readFileSync } from 'node:fs'
import * as abuse from '../packages/core/src/abuse/abuse-control.ts'
import { lifetimeSchema, maxLifetime } from '../packages/core/src/config-schema.ts'
import type { MemberTexts } from '../packages/core/src/directory/member.ts'
import { secretsSchema } from '../packages/core/src/directory/secret.ts'
import { endpointNames } from '../packages/core/src/endpoints/built-in.ts'
import { providerOptionsSchema } from '../packages/core/src/options.ts'
import type { Plugin } from '../packages/core/src/parts/plugin.ts'
import { collectParts, type DirectorySchemas, directorySchemasOf } from '../packages/core/src/parts/registry.ts'
import { settingsSchema as keys } from '../packages/server/src/configuration/configured-keys.ts'
import { objectSchema as consoleOptions } from '../packages/server/src/configuration/console.ts'
import { variableSchema } from '../packages/server/src/configuration/environment.ts'
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
import { actionsOf, type Node } from './valibot-node.ts'

/** JSON Schema draft 7, which all editors support. */
export type JsonSchema = { readonly [member: string]: unknown }

const isOptional = ({ type }: Node): boolean => type === 'optional' || type === 'exact_optional'

const number = (requirement: unknown, name: string): JsonSchema =>
  typeof requirement === 'number' ? { [name]: requirement } : {}

/** The JSON Schema of each action. Function checks add nothing; only the server runs them. */
const actions: Readonly<Record<string, (action: Node, of: unknown) => JsonSchema>> = {
  integer: () => ({ type: 'integer' }),
  safe_integer: () => ({ type: 'integer', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }),
  min_value: ({ requirement }) => number(requirement, 'minimum'),
  max_value: ({ requirement }) => number(requirement, 'maximum'),
  min_length: ({ requirement }, of) => number(requirement, of === 'array' ? 'minItems' : 'minLength'),
  max_length: ({ requirement }, of) => number(requirement, of === 'array' ? 'maxItems' : 'maxLength'),
  non_empty: (_action, of) => (of === 'array' ? { minItems: 1 } : { minLength: 1 }),
  regex: ({ requirement }) => ({ pattern: (requirement as RegExp).source }),
}

const isNarrow = ({ type, pattern, minLength = 0 }: JsonSchema): boolean =>
  type === 'string' && (pattern !== undefined || Number(minLength) > 1)

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

const listOf = (schema: unknown): JsonSchema => ({ type: 'array', items: convert(schema) })
const or = (first: JsonSchema, schema: unknown): JsonSchema => ({ anyOf: [first, convert(schema)] })

/** Adds what administrators read about members. */
function explained(schema: unknown, texts: MemberTexts): JsonSchema {
  const { properties, ...object } = convert(schema)
  const members = Object.entries(properties as Readonly<Record<string, JsonSchema>>).map(([name, member]) => {
    const { title, text } = texts[name] ?? {}
    return [name, { ...member, ...(title !== undefined && { title, description: text }) }]
  })
  return { ...object, properties: Object.fromEntries(members) }
}

/** JSON Schemas for valibot schemas whose rule is a function or depends on the input. */
const overrides = new Map<unknown, () => JsonSchema>([
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
      const { type, wrapped } = option as Node
      const isNumber = type === 'optional' && wrapped?.type === 'number'
      return [name, isNumber ? numericMember(option as unknown as Parameters<typeof numericMember>[0]) : option]
    }),
)

/** Functions are for module configurations only. */
const isFunction = ({ wrapped }: Node): boolean => wrapped?.message === 'must be a function'

function objectSchema({ entries: all = {} }: Node): JsonSchema {
  const members = Object.fromEntries(Object.entries(all).filter(([, member]) => !isFunction(member)))
  const required = Object.keys(members).filter((name) => !isOptional(members[name] as Node))
  const described = (name: string, member: Node): JsonSchema => {
    const description = commentOf(name, Object.keys(all))
    return { ...convert(member), ...(description !== undefined && { description }) }
  }
  return {
    type: 'object',
    properties: Object.fromEntries(Object.entries(members).map(([name, member]) => [name, described(name, member)])),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  }
}

const kinds: Readonly<Record<string, (schema: Node) => JsonSchema>> = {
  optional: ({ wrapped, default: usual }) => ({
    ...convert(wrapped),
    ...(usual !== undefined && { default: usual }),
  }),
  exact_optional: ({ wrapped }) => convert(wrapped),
  nullable: ({ wrapped }) => or({ type: 'null' }, wrapped),
  strict_object: objectSchema,
  // Only the server knows the plugins, and with them the names beside those of the core.
  object_with_rest: objectSchema,
  object: (schema) => ({ ...objectSchema(schema), additionalProperties: true }),
  loose_object: (schema) => ({ ...objectSchema(schema), additionalProperties: true }),
  array: ({ item }) => listOf(item),
  record: ({ value }) => ({ type: 'object', additionalProperties: convert(value) }),
  string: () => ({ type: 'string' }),
  number: () => ({ type: 'number' }),
  boolean: () => ({ type: 'boolean' }),
  picklist: (schema) => ({ anyOf: [{ enum: schema.options }, variableSchema] }),
  literal: ({ literal }) => ({ const: literal }),
  union: ({ options = [] }) => ({ anyOf: options.map(convert) }),
}

/** @throws Error for an unknown schema: falling back to `any` would accept values that the server rejects. */
function convert(schema: unknown): JsonSchema {
  const override = overrides.get(schema)
  if (override !== undefined) return override()
  const { pipe, ...node } = schema as Node
  if (pipe === undefined) {
    const kind = kinds[node.type]
    if (kind === undefined)
      throw new Error(
        `The configuration has a schema of the unsupported type ${node.type}; add it to kinds or overrides`,
      )
    return kind(node)
  }
  const [first, ...following] = pipe
  const rest = following.flatMap(actionsOf)
  // Actions after a transformation do not apply to the written value.
  const end = rest.findIndex(({ type }) => type === 'transform')
  const whole = convert(first)
  // What follows is about the value, and not about a variable for it.
  const [base = whole, ...others] = Array.isArray(whole.anyOf) ? (whole.anyOf as readonly JsonSchema[]) : [whole]
  const added = rest
    .slice(0, end < 0 ? undefined : end)
    .map((action) => actions[action.type]?.(action, base.type) ?? {})
  const complete: JsonSchema = Object.assign({}, base, ...added)
  if (others.length > 0) return { anyOf: [complete, ...others] }
  return isNarrow(complete) ? { anyOf: [complete, variableSchema] } : complete
}

const { version }: { readonly version: string } = JSON.parse(
  readFileSync(new URL('../packages/server/package.json', import.meta.url), 'utf8'),
)

/**
 * Returns the JSON Schema that `grantry` publishes as `dist/configuration.schema.json`.
 *
 * @param others plugins that are not named in a configuration
 */
export function configurationJsonSchema(others: readonly Plugin[] = []): JsonSchema {
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
