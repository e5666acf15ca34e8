import * as v from 'valibot'
import { type AbuseControlOptions, abuseControlSchema } from './abuse/options.ts'
import { configurationObject, configurationPort, functionSchema } from './configuration.ts'
import type { ClientOptions } from './directory/client.ts'
import type { ClientStore } from './directory/clients.ts'
import { usualMaxCalls } from './directory/host-port.ts'
import type { ScopeOptions } from './directory/scope.ts'
import type { UserService } from './directory/user-service.ts'
import { type EndpointName, endpointNames } from './endpoints/endpoint.ts'
import type { Observer } from './events/event.ts'
import { isUnencrypted } from './http/loopback.ts'
import type { KeySource } from './keys/key-source.ts'
import type { Plugin } from './plugin/registry.ts'
import type { AtomicDriver } from './records/store.ts'
import type { Runtime } from './runtime.ts'

/** A path below the issuer, or `false` for an endpoint that is off. `true`: on, at its usual path. */
export type EndpointSwitch = boolean | `/${string}`

/** Where each endpoint is, unless `endpoints` says otherwise. */
export const defaultPaths: Readonly<Record<EndpointName, `/${string}`>> = {
  token: '/connect/token',
  identityTokenValidation: '/connect/identitytokenvalidation',
  userinfo: '/connect/userinfo',
  accessTokenValidation: '/connect/accesstokenvalidation',
  introspection: '/connect/introspect',
  revocation: '/connect/revocation',
  discovery: '/.well-known/openid-configuration',
  authorizationServerMetadata: '/.well-known/oauth-authorization-server',
  jwks: '/.well-known/jwks',
}

/** Everything that a provider is made of. Read once, at start; unknown keys are refused. */
export interface ProviderOptions {
  /** The URL that tokens name as `iss`, and under whose path the endpoints are. It never comes from a request. */
  readonly issuer: string
  /** `storedKeys()`, which the store keeps and replaces; JWKs and external keys of which the first signs; or `signingKeys()`, for tests. */
  readonly keys: KeySource
  /** Where codes and tokens are kept: an unstorage driver that can insert atomically. */
  readonly storage: AtomicDriver
  /** Seconds that one operation of the storage may take; after them the answer is 503. Default 5. */
  readonly storageTimeLimit?: number
  /**
   * Seconds that one call of `users`, or of a client store, may take; default 5. After them the response is 503 `temporarily_unavailable`, and an event
   * names the function.
   */
  readonly hostTimeLimit?: number
  /**
   * Calls of one function of `users`, or of a client store, under way at once; default 128. One more is 503 at once. Keep it well below the requests that
   * the server takes at once (`maxRequests`), so that endpoints that do not need a function that hangs still respond. At most four times as
   * many password attempts are under way, including those that wait for an earlier one of the same user.
   */
  readonly maxHostCalls?: number
  readonly clients: readonly ClientOptions[] | ClientStore
  /** Those of the host. The standard ones (`openid`, `profile`, ..., `offline_access`) are known. */
  readonly scopes?: readonly ScopeOptions[]
  readonly users?: UserService
  /** Grant types and grant checks. Nothing is there that is not named here. */
  readonly plugins: Plugin
  readonly endpoints?: Readonly<Partial<Record<EndpointName, EndpointSwitch>>>
  readonly introspection?: { readonly unrelatedScope?: 'inactive' | 'unauthorized' }
  /**
   * What JWT access tokens of a client alone have as `sub`. `none` (default): nothing. `client_id`: the client id, as RFC 9068 section 2.2 requires
   * and strict validators expect. An API can then no longer tell a client from a user by `sub`: no client id may equal the `sub` of a user, or
   * the API reads `auth_time`, which only the tokens of users have.
   */
  readonly clientTokenSubject?: 'none' | 'client_id'
  /** Seconds by which `exp` and `nbf` may be missed; default 0, at most 60. */
  readonly clockTolerance?: number
  /** Bytes of a form, and characters of a query; default 65536. */
  readonly bodyLimit?: number
  /**
   * How guessing is slowed down. `true`, or an object with other numbers: failed passwords, failed authentications of clients and scopes, and invalid tokens.
   * Without it, failed passwords only, with their default numbers; that limit is never off. All but passwords need `incrementItem` of the storage, and a host
   * that says where a request comes from.
   */
  readonly abuseControl?: boolean | AbuseControlOptions
  /** The host's own login page, for the discovery document. */
  readonly authorizationEndpoint?: string
  /** Gets every event. Without it, failures, warnings at the start and skipped secrets are lines on `console.error`. */
  readonly observe?: Observer
  /** Whether answers that are not cached carry `x-request-id` and a `traceparent` of ours (W3C Trace Context). Default `false`. */
  readonly traceHeaders?: boolean
  /** Parts of the surroundings to use instead of web standards: a clock for tests, faster hashing from an adapter. */
  readonly runtime?: Partial<Runtime>
}

/** What the issuer of a provider may be: the URL that clients compare to the letter (OpenID Connect Discovery section 3, RFC 8414 section 2). */
export const issuerSchema = v.pipe(
  v.string('must be an http or https URL'),
  v.check(
    (issuer) => /^https?:\/\/[^?#@\\\s]+$/iu.test(issuer) && URL.canParse(issuer),
    'must be an absolute http or https URL without query, fragment or user',
  ),
  // RFC 8414 section 2: tokens and secrets travel to it.
  v.check(
    (issuer) => !isUnencrypted(issuer),
    'must be https; http is for this machine only (127.0.0.1, [::1], localhost)',
  ),
  // OpenID Connect Discovery section 4.1 strips it anyway, and `iss` is compared to the letter.
  v.check((issuer) => !issuer.endsWith('/'), 'must not end with a slash'),
  v.check(
    (issuer) => new URL(issuer).href.replace(/\/$/u, '') === issuer,
    (issue) => `must be written as ${new URL(issue.input).href.replace(/\/$/u, '')}`,
  ),
)

const isPath = (path: string): boolean =>
  /^\/[\w\-.~/]*[\w\-.~]$/u.test(path) && !path.split('/').some((segment) => segment === '.' || segment === '..')

const switchSchema = v.custom<EndpointSwitch>(
  (setting) => typeof setting === 'boolean' || (typeof setting === 'string' && isPath(setting)),
  'must be true, false, or a path such as /oauth/token',
)

// Ports and lists of plugins are judged where they are opened; here only that something is there.
const given = <T>(expected: string) =>
  v.custom<T>((value) => typeof value === 'object' && value !== null, `must be ${expected}`)

const runtimeSchema = configurationObject({
  now: functionSchema<Runtime['now']>(),
  elapsed: functionSchema<Runtime['elapsed']>(),
  randomBytes: functionSchema<Runtime['randomBytes']>(),
  sha256: functionSchema<Runtime['sha256']>(),
  sha512: functionSchema<Runtime['sha512']>(),
  sha256Hex: functionSchema<Runtime['sha256Hex']>(),
  base64url: functionSchema<Runtime['base64url']>(),
  encrypt: functionSchema<Runtime['encrypt']>(),
  decrypt: functionSchema<Runtime['decrypt']>(),
  importKey: functionSchema<Runtime['importKey']>(),
  Response: functionSchema<Runtime['Response']>(),
})

const count = v.pipe(
  v.number('must be a number'),
  v.integer('must be a whole number'),
  v.minValue(1, 'must be at least 1'),
)

const timeLimit = v.optional(
  v.pipe(
    v.number('must be a number of seconds'),
    v.minValue(0.05, 'must be 0.05 to 60 seconds'),
    v.maxValue(60, 'must be 0.05 to 60 seconds'),
  ),
  5,
)

export const providerOptionsSchema = configurationObject({
  issuer: issuerSchema,
  keys: given<KeySource>('storedKeys(), signingKeys() or an array of JWKs'),
  storage: given<AtomicDriver>('a storage driver'),
  storageTimeLimit: timeLimit,
  hostTimeLimit: timeLimit,
  maxHostCalls: v.optional(count, usualMaxCalls),
  clients: given<ProviderOptions['clients']>('an array of clients, or an object with find()'),
  scopes: v.optional(
    v.array(
      v.custom<ScopeOptions>(() => true),
      'must be an array of scopes',
    ),
    [],
  ),
  users: v.optional(
    configurationPort<UserService>(
      ['authenticate', 'isActive', 'claims'],
      'an object with authenticate(), isActive() or claims()',
    ),
    {},
  ),
  plugins: v.custom<Plugin>((value) => typeof value === 'object' && value !== null, 'must be an array of plugins'),
  endpoints: v.optional(
    configurationObject(
      Object.fromEntries(endpointNames.map((name) => [name, v.optional(switchSchema)])) as Record<
        EndpointName,
        v.OptionalSchema<typeof switchSchema, undefined>
      >,
    ),
    {},
  ),
  introspection: v.optional(
    configurationObject({
      unrelatedScope: v.optional(
        v.picklist(['inactive', 'unauthorized'], 'must be "inactive" or "unauthorized"'),
        'inactive',
      ),
    }),
    {},
  ),
  clientTokenSubject: v.optional(v.picklist(['none', 'client_id'], 'must be "none" or "client_id"'), 'none'),
  clockTolerance: v.optional(
    v.pipe(
      v.number('must be a number of seconds'),
      v.minValue(0, 'must be 0 to 60 seconds'),
      v.maxValue(60, 'must be 0 to 60 seconds'),
    ),
    0,
  ),
  bodyLimit: v.optional(count, 65_536),
  abuseControl: abuseControlSchema,
  authorizationEndpoint: v.optional(v.pipe(v.string('must be a URL'), v.url('must be a URL'))),
  observe: functionSchema<Observer>(),
  traceHeaders: v.optional(v.boolean('must be true or false'), false),
  runtime: v.optional(runtimeSchema, {}),
})

export type CheckedOptions = v.InferOutput<typeof providerOptionsSchema>

/** The path of an endpoint from the root of the host, or `undefined` when it is off. */
export function pathOfEndpoint(name: EndpointName, options: CheckedOptions): string | undefined {
  const setting = options.endpoints[name] ?? true
  if (setting === false) return undefined
  const own = setting === true ? defaultPaths[name] : setting
  const issuerPath = new URL(options.issuer).pathname.replace(/\/$/u, '')
  // RFC 8414 section 3.1: the well-known part goes between host and path.
  return name === 'authorizationServerMetadata' ? `${own}${issuerPath}` : `${issuerPath}${own}`
}
