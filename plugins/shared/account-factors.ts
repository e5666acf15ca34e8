import type { EndpointKit } from '@grantry/core'
import type { FunctionNames } from './config-schema.ts'
import type { RemovalCheck } from './removal-mark.ts'
import type { SecondFactor } from './second-factor.ts'

/** The conditions for the removal of an app. A host that stores apps itself can ignore them. */
export interface AppRemoval {
  /** Called after the app was marked as removed. With `false`, the app is restored, and the codes stay. */
  readonly isStillAllowed?: RemovalCheck | undefined
  /** Removes nothing if the user has an app with another secret (base32), also one that is being removed. */
  readonly secret?: string | undefined
}

/** The one-time passwords and recovery codes that users manage on their account page. */
export interface AccountSecondFactors {
  /**
   * The second factors that a sign-in must check, so that those that users set up here take effect. Default: any second
   * factor.
   */
  readonly factors?: readonly SecondFactor[] | undefined
  /** Whether the user has an authenticator app, and recovery codes that were not used; and how many of these. */
  state(
    sub: string,
    kit: EndpointKit,
  ): Promise<{
    readonly app: boolean
    /**
     * Whether an app is being removed. It no longer counts as set up, but a sign-in still asks for it. Default:
     * `false`.
     */
    readonly removing?: boolean | undefined
    readonly codes: boolean
    readonly codesLeft?: number | undefined
  }>
  /** Returns a new secret (base32), which takes effect only after `confirm`. */
  newSecret(): string
  /** Returns the URI that an app reads from a QR code. */
  uriOf(secret: string, service: string, account: string): string
  /**
   * Sets up the app if the code is right, is used for the first time, and the user has no app. Calls `beforeStored`
   * after the code was right, before the app takes effect.
   */
  confirm(
    app: {
      readonly sub: string
      readonly secret: string
      readonly code: string
      readonly beforeStored?: (() => Promise<void>) | undefined
    },
    kit: EndpointKit,
  ): Promise<'confirmed' | 'wrong_code' | 'known'>
  /** Removes the app and the recovery codes. `false` if the user has no app, or it stays. */
  remove(sub: string, kit: EndpointKit, conditions?: AppRemoval): Promise<boolean>
  /**
   * Replaces the recovery codes, and returns the new ones; none if others have replaced or removed them meanwhile.
   *
   * @param isStillAllowed called after the new codes were stored. With `false`, the former ones are restored, and none
   * are returned. A host that stores codes itself can ignore it
   */
  newCodes(sub: string, kit: EndpointKit, isStillAllowed?: RemovalCheck): Promise<readonly string[]>
}

/** A passkey, as its user sees it. */
export interface AccountPasskey {
  /** Identifies the passkey in URLs. Not the id of the credential. */
  readonly id: string
  /** The id of the credential (base64url). With those of all passkeys, browsers remove others of the user. */
  readonly credentialId?: string | undefined
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
  /**
   * @param isStillAllowed called after the passkey was marked as removed. With `false`, it is restored. A host that
   * stores passkeys itself can ignore it
   */
  remove(sub: string, id: string, kit: EndpointKit, isStillAllowed?: RemovalCheck): Promise<boolean>
  /** Removes all passkeys of a user, also one whose removal has begun. Default: each of the list. */
  readonly reset?: ((sub: string, kit: EndpointKit) => Promise<unknown>) | undefined
}

export const accountPasskeyFunctions: FunctionNames<AccountPasskeys> = {
  list: true,
  credentialIds: true,
  add: true,
  rename: true,
  remove: true,
}

export const accountSecondFactorFunctions: FunctionNames<AccountSecondFactors> = {
  state: true,
  newSecret: true,
  uriOf: true,
  confirm: true,
  remove: true,
  newCodes: true,
}
