import * as v from 'valibot'
import { wholeSeconds } from '../shared/config-schema.ts'

declare module '@grantry/core' {
  /** @see OpenID Connect Dynamic Client Registration section 2 */
  interface ClientMembers {
    /** The name of the application, for users. */
    readonly clientName?: string | undefined
    /** The home page of the application. */
    readonly clientUri?: string | undefined
    readonly logoUri?: string | undefined
    /** The privacy policy of the application. */
    readonly policyUri?: string | undefined
    /** The terms of service of the application. */
    readonly tosUri?: string | undefined
    /** E-mail addresses of the people who operate the application. */
    readonly contacts?: readonly string[] | undefined
    /** Where a sign-in can be started at the application (OpenID Connect Core section 4). */
    readonly initiateLoginUri?: string | undefined
    /** Seconds since the last authentication of the user, if a request has no `max_age`. */
    readonly defaultMaxAge?: number | undefined
  }
}

const httpsUrl = v.pipe(
  v.string('must be a string'),
  v.maxLength(2000, 'must have at most 2000 characters'),
  v.check((text) => URL.canParse(text) && new URL(text).protocol === 'https:', 'must be an https URL'),
)

/** The members of a client that pages show or requests use. */
export const clientMembers = {
  clientName: v.optional(v.pipe(v.string('must be a string'), v.maxLength(100, 'must have at most 100 characters'))),
  clientUri: v.optional(httpsUrl),
  logoUri: v.optional(httpsUrl),
  policyUri: v.optional(httpsUrl),
  tosUri: v.optional(httpsUrl),
  contacts: v.optional(v.array(v.string('must be a string'), 'must be an array of strings')),
  initiateLoginUri: v.optional(httpsUrl),
  defaultMaxAge: v.optional(wholeSeconds(0, 31_536_000)),
}
