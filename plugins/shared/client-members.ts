import { configurationObject, parseUrl } from '@grantry/core'
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

/** The members of a client that pages show or requests use. Plugins can define the same member only with the same schema. */
export const clientMembers = {
  clientName: v.optional(v.pipe(v.string('must be a string'), v.maxLength(100, 'must have at most 100 characters'))),
  clientColor: v.optional(color),
  clientUri: v.optional(httpsUrl),
  logoUri: v.optional(imageUrl),
  policyUri: v.optional(httpsUrl),
  tosUri: v.optional(httpsUrl),
  contacts: v.optional(v.array(v.string('must be a string'), 'must be an array of strings')),
  initiateLoginUri: v.optional(httpsUrl),
  requireConsent: v.optional(v.boolean('must be true or false')),
  defaultMaxAge: v.optional(wholeSeconds(0, 31_536_000)),
  scopeChoice: v.optional(v.boolean('must be true or false')),
  selfDescribed: v.optional(v.picklist(['allow', 'ask'], 'must be "allow" or "ask"')),
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
    /** Whether requests that do not ask for `offline_access` ask for it nevertheless. */
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
