import * as v from 'valibot'
import { configurationObject, lifetimeSchema } from '../config-schema.ts'
import { parseUrl } from '../parse-url.ts'
import { algorithms } from '../runtime.ts'
import type { Optional } from '../types.ts'
import { redirectUriSchema } from './redirect-uri.ts'
import { secretNames, secretsSchema } from './secret.ts'

const strings = v.pipe(v.array(v.string('must be a string'), 'must be an array of strings'), v.readonly())

/** The longest id of a client or scope, unless it is a URL. */
const maxIdLength = 100
const maxUrlLength = 2000

/** Whether a text is short enough to be the id of a client or scope. */
export const isPossibleId = (id: string): boolean =>
  id.length <= maxIdLength || (id.length <= maxUrlLength && /^https?:\/\//u.test(id))

// RFC 6749 appendix A.1: VSCHAR. A Basic header cannot contain other characters. The id of a client can be the URL of
// its metadata document.
const clientIdSchema = v.pipe(
  v.string('must be a string'),
  v.regex(/^[\x20-\x7E]+$/u, 'must be 1 to 100 printable ASCII characters'),
  v.check(isPossibleId, 'must be 1 to 100 printable ASCII characters, or a URL of at most 2000'),
)

/** The origins of pages in applications that are made with Capacitor, Ionic or Tauri. The URL parser knows none of them. */
const applicationOrigin = /^(?:capacitor|ionic|tauri):\/\/localhost$/u

const originSchema = v.pipe(
  v.string('must be a string'),
  v.check(
    (origin) => parseUrl(origin)?.origin === origin || applicationOrigin.test(origin),
    'must be an origin such as https://app.example.com, without a path',
  ),
)

const refreshTokenSchema = configurationObject({
  usage: v.optional(v.picklist(['rotate', 'reuse'], 'must be "rotate" or "reuse"'), 'rotate'),
  /**
   * Seconds during which a retry with the old token gets the same response, unless the new token was used. 0 disables
   * it.
   */
  retryWindow: v.optional(
    v.pipe(
      v.number('must be a number of seconds'),
      v.integer('must be whole seconds'),
      v.minValue(0, 'must be 0 or more seconds'),
      v.maxValue(300, 'must be at most 300 seconds'),
    ),
    10,
  ),
  /**
   * Seconds during which a spent token returns its successor again, whether that was used or not: for a client whose
   * processes share one token. After that, it is refused, and its family lives. 0: a spent token revokes its family.
   */
  gracePeriod: v.optional(
    v.pipe(
      v.number('must be a number of seconds'),
      v.integer('must be whole seconds'),
      v.minValue(0, 'must be 0 or more seconds'),
      v.maxValue(3600, 'must be at most 3600 seconds'),
    ),
    0,
  ),
  /** Whether an authorization request that does not ask for `offline_access` asks for it nevertheless. */
  unasked: v.optional(
    v.picklist(['never', 'without_openid', 'always'], 'must be "never", "without_openid" or "always"'),
    'never',
  ),
  absoluteLifetime: v.optional(lifetimeSchema, 2_592_000),
  slidingLifetime: v.optional(lifetimeSchema, 1_296_000),
})

const flag = (byDefault: boolean) => v.optional(v.boolean('must be true or false'), byDefault)

/** The members of a client that the core defines. Lifetimes are in seconds. */
export const clientEntries = {
  clientId: clientIdSchema,
  secrets: v.optional(secretsSchema, []),
  public: flag(false),
  /** The only authentication method that the client may use. Default: every method that accepts it. */
  tokenEndpointAuthMethod: v.optional(v.string('must be the name of an authentication method')),
  enabled: flag(true),
  grantTypes: v.optional(strings, []),
  scopes: v.optional(strings, []),
  redirectUris: v.optional(v.array(redirectUriSchema, 'must be an array of URIs'), []),
  postLogoutRedirectUris: v.optional(v.array(redirectUriSchema, 'must be an array of URIs'), []),
  allowedCorsOrigins: v.optional(v.array(originSchema, 'must be an array of origins'), []),
  /** The `idp:` values that the client may request in `acr_values`. Empty allows any. */
  identityProviders: v.optional(strings, []),
  accessTokenFormat: v.optional(v.picklist(['jwt', 'reference'], 'must be "jwt" or "reference"'), 'jwt'),
  accessTokenLifetime: v.optional(lifetimeSchema, 3600),
  identityTokenLifetime: v.optional(lifetimeSchema, 300),
  /** Set it for a client that cannot verify the provider's default algorithm. */
  identityTokenAlgorithm: v.optional(v.picklist(algorithms, `must be one of ${algorithms.join(', ')}`)),
  /** Whether identity tokens contain the claims that userinfo returns for the granted scopes. */
  userClaimsInIdentityToken: flag(false),
  authorizationCodeLifetime: v.optional(lifetimeSchema, 60),
  refreshToken: v.optional(refreshTokenSchema, {}),
}

/** Returns what is wrong with a client, and the member that is at fault. */
type ClientCheck = (client: Client) => { readonly member: string; readonly problem: string } | undefined

/** Names of other servers for members, in lower case. */
const otherNames: Readonly<Record<string, string>> = {
  pkce: 'requirePkce',
  requirespkce: 'requirePkce',
  proofkey: 'requirePkce',
  plainpkce: 'allowPlainPkce',
  allowplaintextpkce: 'allowPlainPkce',
  id: 'clientId',
  name: 'clientName',
  logo: 'logoUri',
  grants: 'grantTypes',
  allowedgranttypes: 'grantTypes',
  scope: 'scopes',
  allowedscopes: 'scopes',
  callbackurls: 'redirectUris',
  callbacks: 'redirectUris',
  logouturls: 'postLogoutRedirectUris',
  allowedorigins: 'allowedCorsOrigins',
  weborigins: 'allowedCorsOrigins',
  publicclient: 'public',
  requireconsentscreen: 'requireConsent',
}

/** The suggestions that name a member of this schema: many belong to plugins. */
const suggestionsFor = (known: v.ObjectEntries): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(otherNames).flatMap(([name, member]) =>
      Object.hasOwn(known, member) ? [[name, `${member}?`]] : [],
    ),
  )

/** Returns the schema of a client's configuration with the members and checks that plugins add. */
export const clientSchemaWith = (more: v.ObjectEntries, checks: readonly ClientCheck[] = []) =>
  v.pipe(
    configurationObject({ ...clientEntries, ...more } as typeof clientEntries, {
      suggestions: { ...suggestionsFor({ ...clientEntries, ...more }), ...secretNames },
      shape: ["an object such as { clientId: 'web' }"],
    }),
    v.forward(
      v.check(
        ({ public: isPublic, secrets }) => !isPublic || (secrets.stored.length === 0 && secrets.malformed === 0),
        'must be empty for a public client, which cannot keep a secret',
      ),
      ['secrets'],
    ),
    v.forward(
      v.check(
        ({ public: isPublic, refreshToken }) => !isPublic || refreshToken.usage === 'rotate',
        'must be "rotate" for a public client',
      ),
      ['refreshToken', 'usage'],
    ),
    v.forward(
      v.check(
        ({ refreshToken: { usage, gracePeriod } }) => usage === 'rotate' || gracePeriod === 0,
        'must be 0 for a client that reuses its refresh token, which is never spent',
      ),
      ['refreshToken', 'gracePeriod'],
    ),
    v.rawCheck(({ dataset, addIssue }) => {
      if (!dataset.typed) return
      const { secrets: _, ...client } = dataset.value
      for (const check of checks) {
        const { member: key, problem: message } = check(client) ?? {}
        if (key === undefined) continue
        const value: unknown = client[key as 'clientId']
        addIssue({ message, path: [{ type: 'object', origin: 'value', input: { ...client }, key, value }] })
      }
    }),
    v.readonly(),
  )

/**
 * The schema of a client's configuration, without members of plugins. Lifetimes are in seconds.
 *
 * @see wire contract, sections 2 and 3; `clients` in the server's configuration
 */
export const clientSchema = clientSchemaWith({})

/**
 * The members that plugins add to a client. A plugin declares them by declaration merging, as optional unless they have
 * a default: `declare module '@grantry/core' { interface ClientMembers { ... } }`. Every plugin can read them.
 */
// biome-ignore lint/suspicious/noEmptyInterface: plugins add members by declaration merging.
export interface ClientMembers {}

/** The configuration of a client. Only `clientId` is required. */
export type ClientOptions = v.InferInput<typeof clientSchema> & Optional<ClientMembers>

/** A client with all defaults applied, as the schema returns it. */
export type ClientWithSecrets = v.InferOutput<typeof clientSchema> & Readonly<ClientMembers>

/**
 * A client with all defaults applied, without its secrets. Only the client authentication can access those, so neither
 * a plugin nor a function of the host can log them.
 */
export type Client = Omit<ClientWithSecrets, 'secrets'>
