/** What users see of a client. @see OpenID Connect Dynamic Client Registration section 2 */
export interface ClientDescription {
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
}

declare module '@grantry/core' {
  interface ClientMembers extends ClientDescription {
    /** Where a sign-in can be started at the application (OpenID Connect Core section 4). */
    readonly initiateLoginUri?: string | undefined
    /** Seconds since the last authentication of the user, if a request has no `max_age`. */
    readonly defaultMaxAge?: number | undefined
    /**
     * Whether users must consent to the requests of the client. Default: `true`. A consent is remembered, except for a
     * public client with a redirect URI other than `https`: another application could use it. `false` for applications
     * that you trust as your own.
     */
    readonly requireConsent?: boolean | undefined
  }
  interface PluginEndpoints {
    authorization: true
    authorizationResume: true
  }
  interface OAuthErrorCodes {
    account_selection_required: 400
    invalid_request_uri: 400
    registration_not_supported: 400
    request_not_supported: 400
    request_uri_not_supported: 400
    unmet_authentication_requirements: 400
    unsupported_response_type: 400
  }
}
