import * as v from 'valibot'
import { type AbuseControlOptions, abuseControlSchema } from './abuse/abuse-control.ts'
import { configurationMap, configurationObject, configurationPort, functionSchema } from './config-schema.ts'
import { refusedSecretsSchema } from './directory/check-secret.ts'
import type { ClientOptions } from './directory/client.ts'
import type { ClientStore } from './directory/client-directory.ts'
import { defaultMaxCalls } from './directory/host-port.ts'
import type { ScopeOptions } from './directory/scope.ts'
import type { UserService } from './directory/user-service.ts'
import type { EndpointName } from './endpoints/built-in.ts'
import type { EndpointSwitch } from './endpoints/paths.ts'
import type { Observer } from './events/event.ts'
import type { KeySource } from './keys/open-key-ring.ts'
import { isPath, parseUrl } from './parse-url.ts'
import type { PluginEndpoints } from './parts/endpoint.ts'
import type { Plugins } from './parts/plugin.ts'
import type { AtomicDriver } from './records/driver.ts'
import type { Runtime } from './runtime.ts'
import { isLocalhostUrl } from './this-machine.ts'
import type { Optional } from './types.ts'

/** The options of `createProvider()`. They are read once, at startup; unknown keys are rejected. */
export interface ProviderOptions {
  /** The `iss` of all tokens, and the base URL of the endpoints. It is never derived from a request. */
  readonly issuer: string
  /**
   * The signing keys: `storedKeys()`, kept and rotated in the storage; an array of JWKs and external keys, of which the
   * first one signs; or `signingKeys()`, for tests.
   */
  readonly keys: KeySource
  /** Stores codes and tokens: an unstorage driver with an atomic insert. */
  readonly storage: AtomicDriver
  /** Seconds after which a storage operation fails and the response is 503. Default: 5. */
  readonly storageTimeLimit?: number | undefined
  /**
   * Seconds after which a call to `users`, a client store, or a function in the options of a plugin fails. The response is then 503 `temporarily_unavailable`,
   * and an event names the function. Default: 5.
   */
  readonly hostTimeLimit?: number | undefined
  /**
   * The maximum number of concurrent calls to one function of the host; six times as many to all. Default: 128. A
   * call beyond the limit fails immediately with 503. Keep the limit well below the concurrent requests of the server
   * (`maxRequests`), so that when one function hangs, endpoints that do not call it still respond. The number of
   * concurrent password attempts is limited to four times this value, including attempts that wait for an earlier
   * attempt of the same user.
   */
  readonly maxHostCalls?: number | undefined
  readonly clients: readonly ClientOptions[] | ClientStore
  /** The scopes of your APIs. The standard scopes (`openid`, `profile`, ..., `offline_access`) are predefined. */
  readonly scopes?: readonly ScopeOptions[] | undefined
  readonly users?: UserService | undefined
  /** Grant types and other extensions. None is enabled by default. */
  readonly plugins: Plugins
  /** Disables or moves endpoints of the core and of plugins. */
  readonly endpoints?: Optional<Record<EndpointName | keyof PluginEndpoints, EndpointSwitch>> | undefined
  readonly introspection?: { readonly unrelatedScope?: 'inactive' | 'unauthorized' | undefined } | undefined
  /**
   * The `sub` of JWT access tokens without a user. `none` (default): no `sub`. `client_id`: the client id, as RFC 9068
   * section 2.2 requires and strict validators expect. An API can then no longer distinguish clients from users by
   * `sub`: either ensure that no client id equals the `sub` of a user, or let the API check for `auth_time`, which only
   * tokens with a user have.
   */
  readonly clientTokenSubject?: 'none' | 'client_id' | undefined
  /**
   * What happens to scopes of an authorization request that are unknown or that the client cannot get, at the authorization
   * endpoint, for pushed requests and for devices: `ignore` (default), as OpenID Connect Core sections 3.1.2.1 and 11
   * recommend, or `refuse` the request. Without any other scope, and for `openid`, the request is refused in any case. The
   * token endpoint always refuses.
   */
  readonly unavailableScopes?: 'ignore' | 'refuse' | undefined
  /**
   * Secrets of clients and scopes that were compromised, such as `sha256:<base64 of the SHA-256>`: they are never accepted,
   * also if a restored backup contains them. At most 1,000. `grantry clients rotate-secret` prints them.
   */
  readonly refusedSecrets?: readonly string[] | undefined
  /** Clock skew allowed for `exp` and `nbf`, in seconds. Default: 0, and 5 for `nbf`; maximum: 60. */
  readonly clockTolerance?: number | undefined
  /** The maximum size of a body in bytes and of a query in characters. Default: 65536. */
  readonly bodyLimit?: number | undefined
  /**
   * Limits on guessing and flooding: failed passwords, failed authentications of clients and scopes, invalid tokens,
   * and requests that wait for a user. `true` enables all limits with defaults; an object overrides the defaults.
   * Without the option, failed passwords and waiting requests are limited, with defaults; the limit of passwords
   * cannot be disabled. Limits per address require an adapter that reports the client address.
   */
  readonly abuseControl?: boolean | AbuseControlOptions | undefined
  /** The URL of your login page, published in the discovery document. */
  readonly authorizationEndpoint?: string | undefined
  /**
   * Receives every event. Without it, failures, startup warnings, and skipped secrets and clients are logged to
   * `console.error`, and so are refusals if the issuer is `http`.
   */
  readonly observe?: Observer | undefined
  /**
   * Adds `x-request-id` and `traceparent` (W3C Trace Context) to responses that are not cacheable. Default: `false`.
   */
  readonly traceHeaders?: boolean | undefined
  /** Replaces parts of the default runtime: a clock for tests, faster hashing from an adapter. */
  readonly runtime?: Optional<Runtime> | undefined
}

/** Whether requests to this URL leave the machine unencrypted: `http` and not a loopback host. */
export const isUnencrypted = (url: string): boolean => parseUrl(url)?.protocol === 'http:' && !isLocalhostUrl(url)

/**
 * The schema of an issuer. Clients compare it character by character (OpenID Connect Discovery section 3, RFC 8414
 * section 2).
 */
export const issuerSchema = v.pipe(
  v.string('must be an http or https URL'),
  v.check(
    (issuer) => /^https?:\/\/[^?#@\\\s]+$/iu.test(issuer) && URL.canParse(issuer),
    'must be an absolute http or https URL without a query, fragment or user',
  ),
  // RFC 8414 section 2: clients send secrets and tokens to it.
  v.check(
    (issuer) => !isUnencrypted(issuer),
    'must use https; http is allowed only for loopback hosts (127.0.0.1, [::1], localhost)',
  ),
  // OpenID Connect Discovery section 4.1 strips a trailing slash, and then `iss` would no longer match.
  v.check((issuer) => !issuer.endsWith('/'), 'must not end with a slash'),
  v.check(
    (issuer) => new URL(issuer).href.replace(/\/$/u, '') === issuer,
    (issue) => `must be written as ${new URL(issue.input).href.replace(/\/$/u, '')}`,
  ),
)

const switchSchema = v.custom<EndpointSwitch>(
  (setting) => typeof setting === 'boolean' || isPath(setting),
  'must be true, false, or a path such as /oauth/token',
)

// Checks only that a value is present: ports and plugins are validated where they are opened.
const anyObject = <T>(expected: string) =>
  v.custom<T>((value) => typeof value === 'object' && value !== null, `must be ${expected}`)

const runtimeSchema: v.GenericSchema<Optional<Runtime>> = configurationObject({
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
  keys: anyObject<KeySource>('storedKeys(), signingKeys() or an array of JWKs'),
  storage: anyObject<AtomicDriver>('a storage driver'),
  storageTimeLimit: timeLimit,
  hostTimeLimit: timeLimit,
  maxHostCalls: v.optional(count, defaultMaxCalls),
  clients: anyObject<ProviderOptions['clients']>('an array of clients, or an object with find()'),
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
  plugins: v.custom<Plugins>((value) => typeof value === 'object' && value !== null, 'must be an array of plugins'),
  endpoints: v.optional(configurationMap(v.optional(switchSchema)), {}),
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
  unavailableScopes: v.optional(v.picklist(['ignore', 'refuse'], 'must be "ignore" or "refuse"'), 'ignore'),
  refusedSecrets: refusedSecretsSchema,
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
