import { type Client, configurationObject, type MembersOf, member, parseUrl } from '@grantry/core'
import * as v from 'valibot'
import { wholeSeconds } from './config-schema.ts'

const httpsUrl = v.pipe(
  v.string('must be a string'),
  v.maxLength(2000, 'must have at most 2000 characters'),
  v.check((text) => parseUrl(text)?.protocol === 'https:', 'must be an https URL'),
)

/** The policy of a page can name no other hosts as sources of images: no IPv6 address, no underscore, no final dot. */
const imageHost = /^[a-z\d](?:[a-z\d.-]*[a-z\d])?$/u
const imageUrl = v.pipe(
  httpsUrl,
  v.check(
    (text) => imageHost.test(parseUrl(text)?.hostname ?? ''),
    'must have a host of letters, digits, hyphens and dots, which a content security policy can name',
  ),
)

const color = v.pipe(v.string('must be a string'), v.regex(/^#[\da-f]{6}$/iu, 'must be a colour such as #1f4fd8'))

/** What users see of a client. @see OpenID Connect Dynamic Client Registration section 2 */
export const descriptionMembers = {
  /** The name of the application, for users. */
  clientName: member(
    v.optional(v.pipe(v.string('must be a string'), v.maxLength(100, 'must have at most 100 characters'))),
    { title: 'Name', text: 'What users see when they sign in. Without it, they see the id.', group: 'application' },
  ),
  /** The colour of buttons on pages about the application, as `#rrggbb`. Self-described clients have none. */
  clientColor: member(v.optional(color), {
    title: 'Color',
    text: 'The color of buttons on the pages of the sign-in, such as #1f4fd8.',
    group: 'pages',
  }),
  /** The home page of the application. */
  clientUri: member(v.optional(httpsUrl), {
    title: 'Home page',
    text: 'A link on the pages of the sign-in.',
    group: 'pages',
  }),
  /** The logo of the application. */
  logoUri: member(v.optional(imageUrl), {
    title: 'Logo',
    text: 'A picture on the pages of the sign-in.',
    group: 'pages',
  }),
  /** The privacy policy of the application. */
  policyUri: member(v.optional(httpsUrl), {
    title: 'Privacy policy',
    text: 'A link on the pages of the sign-in.',
    group: 'pages',
  }),
  /** The terms of service of the application. */
  tosUri: member(v.optional(httpsUrl), {
    title: 'Terms of service',
    text: 'A link on the pages of the sign-in.',
    group: 'pages',
  }),
  /** E-mail addresses of the people who operate the application. */
  contacts: member(v.optional(v.array(v.string('must be a string'), 'must be an array of strings')), {
    title: 'Contacts',
    text: 'Who is responsible for it, such as a mail address.',
    group: 'pages',
  }),
}

/** Returns what users see of a client on a page. */
export const clientView = (client: Pick<Client, 'clientId'> & MembersOf<typeof descriptionMembers>) => ({
  clientId: client.clientId,
  name: client.clientName,
  uri: client.clientUri,
  color: client.clientColor,
  logoUri: client.logoUri,
  policyUri: client.policyUri,
  tosUri: client.tosUri,
})

/** The members of a client that pages show or requests use. Plugins can define the same member only with the same schema. */
export const clientMembers = {
  ...descriptionMembers,
  /** Where a sign-in can be started at the application (OpenID Connect Core section 4). */
  initiateLoginUri: member(v.optional(httpsUrl), {
    title: 'Address that starts a sign-in',
    text: 'Where the pages of this server send a user who has no request.',
    group: 'sign-in',
  }),
  /**
   * Whether users must consent to the requests of the client. Default: `true`. A consent is remembered, except for a
   * public client with a redirect URI other than `https`: another application could use it. `false` for applications
   * that you trust as your own.
   */
  requireConsent: member(v.optional(v.boolean('must be true or false')), {
    title: 'Ask users for consent',
    text: 'Turn it off for applications of your own only: users are then never asked what it may get. Default: on.',
    group: 'sign-in',
  }),
  /** Seconds since the last authentication of the user, if a request has no `max_age`. */
  defaultMaxAge: member(v.optional(wholeSeconds(0, 31_536_000)), {
    title: 'Age of a sign-in',
    text: 'After how many seconds a user has to sign in again.',
    group: 'sign-in',
  }),
  /**
   * Whether users choose which of the requested scopes the client gets, instead of all or nothing. The token response
   * names those that it got (RFC 6749 section 3.3). Default: `true` for clients with `selfDescribed`, otherwise `false`.
   */
  scopeChoice: member(v.optional(v.boolean('must be true or false')), {
    title: 'Choice of scopes',
    text: 'Whether users choose what it gets, instead of all or nothing. Default: on for clients that have described themselves.',
    group: 'sign-in',
  }),
  /**
   * The client has described itself, in a document or by registering: its name is only its own claim. `ask`: a consent
   * is not remembered.
   */
  selfDescribed: member(v.optional(v.picklist(['allow', 'ask'], 'must be "allow" or "ask"')), {
    title: 'Described by itself',
    text: 'For clients that have registered themselves. allow: a consent can be remembered. ask: users are asked each time.',
    group: 'security',
  }),
}

/** The names that members have in metadata which clients decide about themselves. */
export const clientMetadata = { initiate_login_uri: 'initiateLoginUri', default_max_age: 'defaultMaxAge' } as const

/**
 * Refresh tokens of clients that have described or registered themselves. Several processes of such a client share one
 * refresh token in a file, and its library does not ask for `offline_access`.
 *
 * @see docs/decisions/0154-refresh-tokens-of-several-processes.md
 */
export const refreshTokenOption = v.optional(
  configurationObject({
    /** Seconds during which a spent token returns its successor again. 0: a spent token revokes its family. */
    gracePeriod: v.optional(wholeSeconds(0, 3600), 1800),
    /** Whether requests get `offline_access` without asking for it. */
    unasked: v.optional(
      v.picklist(['never', 'without_openid', 'always'], 'must be "never", "without_openid" or "always"'),
      'without_openid',
    ),
    /** Seconds from the sign-in until the last token of the family expires. Default: as for other clients. */
    absoluteLifetime: v.optional(wholeSeconds(1, 31_536_000)),
    /** Seconds until a token that is not used expires. Default: as for other clients. */
    slidingLifetime: v.optional(wholeSeconds(1, 31_536_000)),
  }),
  {},
)
