import type { EndpointKit } from '@grantry/core'

/** A passkey, as its user sees it. */
export interface AccountPasskey {
  /** Names it in URLs. Not the id of the credential. */
  readonly id: string
  readonly name: string
  /** Epoch seconds. */
  readonly addedAt: number
  /** Epoch seconds. */
  readonly usedAt?: number | undefined
}

/** A new passkey, as a browser has created it. All of it comes from a stranger. */
export interface NewAccountPasskey {
  /** The `PublicKeyCredential` as JSON, with `clientDataJSON` and `authenticatorData`. */
  readonly credential: string
  readonly challenge: string
  readonly origin: string
  readonly rpId: string
  /** The name of the passkey. */
  readonly name: string
  readonly sub: string
  /** How the user is shown to the user. */
  readonly userName: string
}

/** The passkeys that users manage on their account page. `storedPasskeys()` has them in the storage. */
export interface AccountPasskeys {
  readonly rpId?: string | undefined
  /** The COSE algorithms of new passkeys. */
  readonly algorithms: readonly number[]
  list(sub: string, kit: EndpointKit): Promise<readonly AccountPasskey[]>
  /** The ids of the credentials, which a device must not register again. */
  credentialIds(sub: string, kit: EndpointKit): Promise<readonly string[]>
  /** Adds a passkey, and returns its id; or why not. `known`: it was added before. */
  add(
    passkey: NewAccountPasskey,
    kit: EndpointKit,
  ): Promise<{ readonly id: string } | 'not_valid' | 'known' | 'too_many'>
  /** `false` if the user has no such passkey, as of `remove`. */
  rename(sub: string, id: string, name: string, kit: EndpointKit): Promise<boolean>
  remove(sub: string, id: string, kit: EndpointKit): Promise<boolean>
}
