import * as v from 'valibot'
import { configurationObject, flag, lifetimeSchema } from '../config-schema.ts'
import { parseUrl } from '../parse-url.ts'
import { algorithms } from '../runtime.ts'
import type { MemberText } from './member.ts'
import { redirectUriSchema } from './redirect-uri.ts'
import { secretsSchema } from './secret.ts'

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
   * Seconds during which a spent token returns its successor again, whether the successor was used or not: for a
   * client whose processes share one token. After that, the spent token is refused, and its family remains valid. 0:
   * a spent token revokes its family.
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
  /** Whether an authorization request gets `offline_access` without asking for it. */
  unasked: v.optional(
    v.picklist(['never', 'without_openid', 'always'], 'must be "never", "without_openid" or "always"'),
    'never',
  ),
  absoluteLifetime: v.optional(lifetimeSchema, 2_592_000),
  slidingLifetime: v.optional(lifetimeSchema, 1_296_000),
})

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

/** What administrators read about these members. Only the administration imports it, so other programs do not contain it. */
export const clientTexts: Readonly<Record<Exclude<keyof typeof clientEntries, 'secrets'>, MemberText>> = {
  clientId: {
    title: 'Client id',
    text: 'The application sends it with each request. It cannot be changed later.',
    group: 'application',
  },
  public: {
    title: 'Public client',
    text: 'Its code runs on the device of the user, as in a browser or on a phone, so it cannot keep a secret.',
    group: 'application',
  },
  tokenEndpointAuthMethod: {
    title: 'Authentication',
    text: 'The only method by which it may authenticate, such as client_secret_basic. Default: every one that is configured.',
    group: 'keys',
  },
  enabled: {
    title: 'Enabled',
    text: 'A disabled client gets no tokens, and those that it has end.',
    group: 'application',
  },
  grantTypes: {
    title: 'Grant types',
    text: 'How it gets tokens: authorization_code with a user, client_credentials without one, refresh_token to stay signed in.',
    group: 'access',
  },
  scopes: {
    title: 'Scopes',
    text: 'What it may request, such as openid, profile or the name of an API.',
    group: 'access',
  },
  redirectUris: {
    title: 'Redirect URIs',
    text: 'The addresses that users return to after a sign-in. They are compared exactly.',
    group: 'addresses',
  },
  postLogoutRedirectUris: {
    title: 'Redirect URIs after a sign-out',
    text: 'The addresses that users can return to after they have signed out.',
    group: 'addresses',
  },
  allowedCorsOrigins: {
    title: 'Origins of its pages',
    text: 'For an application in the browser: the origins that may call this server, without a path.',
    group: 'addresses',
  },
  identityProviders: {
    title: 'Identity providers',
    text: 'The idp: values that it may request in acr_values. None allows any.',
    group: 'sign-in',
  },
  accessTokenFormat: {
    title: 'Format of access tokens',
    text: 'An API can verify a JWT itself. It asks this server about a reference token, which can be revoked immediately.',
    group: 'tokens',
  },
  accessTokenLifetime: { title: 'Lifetime of access tokens', text: 'In seconds.', group: 'tokens' },
  identityTokenLifetime: { title: 'Lifetime of identity tokens', text: 'In seconds.', group: 'tokens' },
  identityTokenAlgorithm: {
    title: 'Algorithm of identity tokens',
    text: 'For an application that cannot verify the usual one.',
    group: 'tokens',
  },
  userClaimsInIdentityToken: {
    title: 'Claims in identity tokens',
    text: 'Identity tokens contain what userinfo returns, for an application that does not call it.',
    group: 'tokens',
  },
  authorizationCodeLifetime: { title: 'Lifetime of codes', text: 'In seconds.', group: 'tokens' },
  refreshToken: {
    title: 'Refresh tokens',
    text: 'An object: usage (rotate or reuse), unasked (never, without_openid or always), and absoluteLifetime, slidingLifetime, retryWindow and gracePeriod in seconds.',
    group: 'tokens',
  },
}
