import * as v from 'valibot'
import { configurationObject, lifetimeSchema } from '../configuration.ts'
import { algorithms } from '../runtime.ts'
import { redirectUriSchema } from './redirect-uri.ts'
import { secretNames, secretsSchema } from './secret.ts'

const strings = v.pipe(v.array(v.string('must be text'), 'must be an array of text'), v.readonly())

// RFC 6749 appendix A.1: VSCHAR. Nothing else could travel in a Basic header.
const clientIdSchema = v.pipe(
  v.string('must be text'),
  v.regex(/^[\x20-\x7E]{1,100}$/u, 'must be 1 to 100 printable ASCII characters'),
)

const originSchema = v.pipe(
  v.string('must be text'),
  v.check(
    (origin) => URL.canParse(origin) && new URL(origin).origin === origin,
    'must be an origin such as https://app.example.com, without a path',
  ),
)

const refreshTokenSchema = configurationObject({
  usage: v.optional(v.picklist(['rotate', 'reuse'], 'must be "rotate" or "reuse"'), 'rotate'),
  /** Seconds in which an equal request with the old token gets the same response, until the new token is used; 0: never. */
  retryWindow: v.optional(
    v.pipe(
      v.number('must be a number of seconds'),
      v.integer('must be whole seconds'),
      v.minValue(0, 'must be 0 or more seconds'),
      v.maxValue(300, 'must be at most 300 seconds'),
    ),
    10,
  ),
  absoluteLifetime: v.optional(lifetimeSchema, 2_592_000),
  slidingLifetime: v.optional(lifetimeSchema, 1_296_000),
})

const flag = (byDefault: boolean) => v.optional(v.boolean('must be true or false'), byDefault)

/**
 * A client as the host declares it. Lifetimes are in seconds.
 *
 * @see wire contract, sections 2 and 3; `clients` in the server's configuration
 */
export const clientSchema = v.pipe(
  configurationObject(
    {
      clientId: clientIdSchema,
      secrets: v.optional(secretsSchema, []),
      public: flag(false),
      enabled: flag(true),
      grantTypes: v.optional(strings, []),
      scopes: v.optional(strings, []),
      redirectUris: v.optional(v.array(redirectUriSchema, 'must be an array of URIs'), []),
      postLogoutRedirectUris: v.optional(v.array(redirectUriSchema, 'must be an array of URIs'), []),
      allowedCorsOrigins: v.optional(v.array(originSchema, 'must be an array of origins'), []),
      /** `idp:` values that `acr_values` may ask for; empty: any. */
      identityProviders: v.optional(strings, []),
      accessTokenFormat: v.optional(v.picklist(['jwt', 'reference'], 'must be "jwt" or "reference"'), 'jwt'),
      accessTokenLifetime: v.optional(lifetimeSchema, 3600),
      identityTokenLifetime: v.optional(lifetimeSchema, 300),
      /** For a client that cannot verify by the usual algorithm of the provider. */
      identityTokenAlgorithm: v.exactOptional(v.picklist(algorithms, `must be one of ${algorithms.join(', ')}`)),
      authorizationCodeLifetime: v.optional(lifetimeSchema, 60),
      /** The opt-in for `code_challenge_method=plain` (RFC 7636 section 4.2). */
      allowPlainCodeChallenge: flag(false),
      refreshToken: v.optional(refreshTokenSchema, {}),
    },
    { meant: secretNames },
  ),
  v.forward(
    v.check(
      ({ public: isPublic, secrets }) => !isPublic || (secrets.stored.length === 0 && secrets.malformed === 0),
      'must be empty for a public client: it cannot keep a secret',
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
  v.readonly(),
)

/** What a host writes: only `clientId` is required. */
export type ClientOptions = v.InferInput<typeof clientSchema>

/** A client with every default filled in. */
export type Client = v.InferOutput<typeof clientSchema>
