import {
  type AbuseControlOptions,
  type ClientOptions,
  type ClientStore,
  configurationObject,
  isObject,
  type Plugins,
  type ProviderOptions,
  type ScopeOptions,
  type UserService,
} from '@grantry/core'
import * as v from 'valibot'
import { numeric } from '../numeric.ts'
import { logLevels } from '../observability/level.ts'
import { logFormats } from '../observability/log-formats.ts'
import { metricsSchema } from '../observability/metrics-configuration.ts'
import { checkSchema } from './check-settings.ts'
import { clientCertificateSchema } from './client-certificate.ts'
import { keysSchema } from './configured-keys.ts'
import { consoleSchema } from './console.ts'
import { mailSchema } from './mail.ts'
import { isNamedPlugin, type NamedPlugin, namedPluginSchema } from './named-plugins.ts'
import { storageSchema } from './storage/storage-drivers.ts'
import { tenantsSchema } from './tenants-schema.ts'
import { tlsSchema } from './tls.ts'
import {
  type ConfiguredUser,
  namesDriver,
  type UserDatabaseConfiguration,
  type UserDatabaseInput,
  type UserInput,
  userDatabaseSchema,
  userSchema,
} from './users-schema.ts'

const proxies = v.pipe(
  numeric('must be a number'),
  v.integer('must be a whole number'),
  v.minValue(0, 'must be 0 or more'),
)

const limit = v.optional(
  v.pipe(numeric('must be a number'), v.integer('must be a whole number'), v.minValue(1, 'must be 1 or more')),
)

const shutdownDelay = v.pipe(
  numeric('must be a number of seconds'),
  v.minValue(0, 'must be 0 to 300 seconds'),
  v.maxValue(300, 'must be 0 to 300 seconds'),
)

const userServiceSchema = v.custom<UserService>(
  isObject,
  'must be an array of users, { "driver": ... }, or in a module configuration a user service',
)

// Chosen by the type of the value. The errors of a union would not name the path, such as `users[2].sub`.
const usersSchema = v.lazy(
  (
    users,
  ): v.GenericSchema<
    readonly UserInput[] | UserDatabaseInput | UserService,
    readonly ConfiguredUser[] | UserDatabaseConfiguration | UserService
  > => {
    if (Array.isArray(users)) return v.array(userSchema)
    return namesDriver<unknown>(users) ? userDatabaseSchema(users) : userServiceSchema
  },
)

// The provider validates a plugin. `object` and not `Plugins`: the compiler gives up on a schema of a recursive type.
const pluginSchema = v.custom<string | object>(
  (entry) => typeof entry === 'string' || isObject(entry),
  'must be the path of a module, { "name": ... }, or in a module configuration a plugin',
)

const pluginsSchema = v.array(
  v.lazy(
    (entry): v.GenericSchema<string | object> => (isNamedPlugin(entry) ? namedPluginSchema(entry.name) : pluginSchema),
  ),
  'must be an array',
)

// The provider validates the limits.
const limits = <K extends keyof AbuseControlOptions>() =>
  v.optional(v.custom<Exclude<AbuseControlOptions[K], undefined>>(() => true))

const abuseControlSchema = v.optional(
  configurationObject({
    enabled: v.optional(v.boolean('must be true or false'), true),
    passwords: limits<'passwords'>(),
    credentials: limits<'credentials'>(),
    validation: limits<'validation'>(),
    waitingRequests: limits<'waitingRequests'>(),
  }),
  {},
)

/** The level and format of the log. `--log-level` and `--log-format` override them. */
const logSchema = configurationObject({
  level: v.optional(v.picklist(logLevels, 'must be debug, info, warn, error or silent'), 'info'),
  /** Defaults to `text` on a terminal and `json` everywhere else. */
  format: v.optional(v.picklist(logFormats, 'must be json or text')),
})

/** Options of the command line, and names of other servers. `configurationObject` adds the question. */
const suggestions = {
  port: '--port? The port is an option of grantry serve (or PORT in the environment), not of the configuration',
  host: '--host? The address is an option of grantry serve, not of the configuration',
  address: '--host? The address is an option of grantry serve, not of the configuration',
  loglevel: 'log.level?',
  logformat: 'log.format?',
  url: 'issuer?',
  baseurl: 'issuer?',
  database: 'storage?',
  store: 'storage?',
  apis: 'scopes?',
  resources: 'scopes?',
}

const entries = {
  /** The URL of the JSON Schema, for editors. The server ignores it. */
  $schema: v.optional(v.string('must be the URL of a JSON Schema')),
  issuer: v.string('must be the URL of this server'),
  storage: v.optional(storageSchema, { driver: 'filesystem' }),
  keys: v.optional(keysSchema, {}),
  clients: v.custom<readonly ClientOptions[] | ClientStore>(isObject, 'must be an array of clients'),
  scopes: v.optional(v.custom<readonly ScopeOptions[]>(Array.isArray, 'must be an array of scopes'), []),
  users: v.optional(usersSchema, []),
  /** Whether commands change clients in the storage, besides those that are configured. */
  administration: v.optional(v.boolean('must be true or false'), false),
  /** The server that sends the mails of accounts. */
  mail: v.optional(mailSchema),
  plugins: v.optional(pluginsSchema),
  endpoints: v.optional(v.custom<Record<string, never>>(isObject, 'must be an object'), {}),
  introspection: v.optional(v.custom<Record<string, never>>(isObject, 'must be an object'), {}),
  /** Compromised secrets. The provider validates them. */
  refusedSecrets: v.optional(v.array(v.string('must be a string'), 'must be an array of strings')),
  storageTimeLimit: v.optional(numeric('must be a number of seconds')),
  hostTimeLimit: v.optional(numeric('must be a number of seconds')),
  maxHostCalls: v.optional(numeric('must be a number')),
  clientTokenSubject: v.optional(v.picklist(['none', 'client_id'], 'must be "none" or "client_id"'), 'none'),
  unavailableScopes: v.optional(v.picklist(['ignore', 'refuse'], 'must be "ignore" or "refuse"'), 'ignore'),
  clockTolerance: v.optional(numeric('must be a number of seconds'), 0),
  authorizationEndpoint: v.optional(v.string('must be a URL')),
  bodyLimit: v.optional(numeric('must be a number of bytes')),
  trustedProxies: v.optional(proxies, 0),
  clientCertificate: v.optional(clientCertificateSchema),
  tls: v.optional(tlsSchema),
  maxRequests: limit,
  maxBodies: limit,
  maxConnections: limit,
  idleTimeout: v.optional(
    v.pipe(
      numeric('must be a number of seconds'),
      v.minValue(1, 'must be 1 to 86400 seconds'),
      v.maxValue(86_400, 'must be 1 to 86400 seconds'),
    ),
  ),
  shutdownDelay: v.optional(shutdownDelay, 0),
  abuseControl: abuseControlSchema,
  log: v.optional(logSchema, {}),
  metrics: v.optional(metricsSchema, true),
  console: v.optional(consoleSchema, false),
  homePage: v.optional(v.boolean('must be true or false'), true),
  check: v.optional(checkSchema),
  tenants: v.optional(tenantsSchema),
}

/**
 * The configuration of the server. Values that it passes to the provider unchanged (clients, scopes, endpoints, ...) are
 * validated there.
 */
export const configurationSchema = configurationObject(entries, { suggestions })

/** The configuration as the operator writes it. */
export type Configuration = Omit<
  v.InferInput<typeof configurationSchema>,
  'plugins' | 'endpoints' | 'introspection'
> & {
  /** Disables or moves endpoints of the core and of plugins. */
  readonly endpoints?: ProviderOptions['endpoints']
  readonly introspection?: ProviderOptions['introspection']
  /** Paths of modules, and plugins by their names; in a module configuration also plugins. */
  readonly plugins?: readonly (string | NamedPlugin | Plugins)[] | undefined
}

/** The validated configuration, with defaults. */
export type CheckedConfiguration = v.InferOutput<typeof configurationSchema>

/**
 * Types a module configuration: `export default defineConfig({ ... })`.
 *
 * @example
 * export default defineConfig({ issuer: 'https://id.example.com', clients: [] })
 */
export const defineConfig = (configuration: Configuration): Configuration => configuration
