import { typeOf } from '../shared/verify-jwt.ts'

// draft-ietf-oauth-identity-assertion-authz-grant-04 sections 3, 4.3 and 7.

/** The `typ` of identity assertions. */
export const idJagType = 'oauth-id-jag+jwt'
export const idJagTokenType = 'urn:ietf:params:oauth:token-type:id-jag'
export const idJagProfile = 'urn:ietf:params:oauth:grant-profile:id-jag'

/**
 * Whether an assertion is of this profile. Assertions of this profile and others must not be accepted in place of each
 * other.
 */
export const isIdJag = (assertion: string): boolean => typeOf(assertion) === idJagType

/** Returns the same text for a URL with and without the path `/`, and with the default port of its scheme. */
export const comparable = (url: string): string => {
  try {
    return new URL(url).href
  } catch {
    return url
  }
}
