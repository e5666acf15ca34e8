import type { EndpointKit } from '@grantry/core'

/** Ends the sessions of users at the providers where they have begun, such as the result of `upstream()`. */
export interface ProviderLogout {
  /**
   * Returns the URL that ends the session at its provider, and sends the browser back. `undefined` if there is none, or the
   * provider cannot be reached.
   *
   * @param idp the provider of the session
   * @param back `uri`, `state`: where the browser comes back to; `sub`: the user of the session
   * @see OpenID Connect RP-Initiated Logout 1.0 section 2
   */
  logoutUrl(
    idp: string,
    back: { readonly uri: string; readonly state: string; readonly sub: string },
    kit: EndpointKit,
  ): Promise<string | undefined>
}
