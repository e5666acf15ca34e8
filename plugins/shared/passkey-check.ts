import type { EndpointKit } from '@grantry/core'

/** A response of a browser, and the values that it must have signed. */
export interface PasskeyResponse {
  /** The `PublicKeyCredential` as JSON (WebAuthn Level 3 section 5.1). It comes from a stranger. */
  readonly credential: string
  /** base64url */
  readonly challenge: string
  /** The origin of the issuer. */
  readonly origin: string
  /**
   * Reads the state of the user as soon as the passkey is found. Await it, and then find the passkey again: one that was
   * removed meanwhile gives no session that outlives the removal.
   */
  readonly readState?: ((sub: string) => unknown) | undefined
  /**
   * Called with the ids of a passkey that is not stored, if the check knows all passkeys there are: the browser can then
   * remove it. Without the user handle if the browser has sent none.
   */
  readonly onUnknown?:
    | ((passkey: { readonly id: string; readonly userHandle?: string | undefined }) => void)
    | undefined
}

/** The owner of a passkey. */
export interface PasskeyUser {
  readonly sub: string
  /** How the user is shown to the user. Default: `sub`. */
  readonly name?: string | undefined
}

/** Signs users in by a passkey, instead of a password. `passkeys()` of `@grantry/plugins/passkeys` creates it. */
export interface PasskeyCheck {
  /** The domain of the passkeys; `undefined` for the host of the issuer. */
  readonly rpId?: string | undefined
  /**
   * Whether the check calls functions of the host by `kit.callHost` itself. Default: `false`: the sign-in then calls
   * `verify` and `reset` by `kit.callHost`.
   */
  readonly limitsHostCalls?: boolean | undefined
  /** Returns the owner; `undefined` if the passkey is unknown, or the response is not valid. */
  verify(response: PasskeyResponse, kit: EndpointKit): Promise<PasskeyUser | undefined>
  /** Removes all passkeys of a user, as `reset` of a second factor does. It can return `{ passkeys: 2 }`. */
  readonly reset?: ((sub: string, kit: EndpointKit) => unknown) | undefined
}
