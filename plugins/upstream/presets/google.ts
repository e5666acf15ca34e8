import { configurationObject, type OptionsOf, parseConfiguration } from '@grantry/core'
import * as v from 'valibot'
import { presetEntries, text, type UpstreamProvider } from '../upstream-options.ts'

export const googleSchema = configurationObject({
  ...presetEntries('google', 'Google'),
  clientSecret: text,
  /** The domains of Google Workspace whose users may sign in (`hd`). Default: all accounts of Google. */
  hostedDomains: v.optional(v.pipe(v.array(text, 'must be an array of domains'), v.minLength(1, 'must not be empty'))),
})

export type GoogleOptions = OptionsOf<typeof googleSchema>

/**
 * Users sign in with Google.
 *
 * @throws TypeError when an option is malformed.
 */
export function google(options: GoogleOptions): UpstreamProvider {
  const { hostedDomains, parameters, ...common } = parseConfiguration(googleSchema, options, 'google()')
  const [domain, ...others] = hostedDomains ?? []
  return {
    ...common,
    issuer: 'https://accounts.google.com',
    // The identity tokens of Google have all claims.
    userinfo: false,
    // A hint for the page of Google only: the user can change it.
    parameters: { ...(domain !== undefined && { hd: others.length > 0 ? '*' : domain }), ...parameters },
    adapter: {
      // For a private account with an address in another domain, Google has verified the address once, and does not
      // notice when it gets a new owner.
      verifiesMail: ({ email, email_verified: isVerified, hd }) =>
        isVerified === true && (typeof hd === 'string' || /@(?:gmail|googlemail)\.com$/iu.test(String(email))),
      refuses: ({ hd }) =>
        hostedDomains === undefined || hostedDomains.some((hosted) => hosted === hd) ? undefined : 'domain_not_allowed',
    },
  }
}
