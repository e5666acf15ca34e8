import type { EndpointKit } from '@grantry/core'

/** A second proof of who the user is, which the user types after the password: a one-time password, a recovery code. */
export interface SecondFactor {
  /** The method in `amr`, such as `otp`. @see RFC 8176 section 2 */
  readonly amr: string
  /**
   * Whether the factor calls functions of the host by `kit.callHost` itself. Default: `false`: the sign-in then calls
   * the functions of the factor by `kit.callHost`, with its time limit.
   */
  readonly limitsHostCalls?: boolean | undefined
  /** Whether the user has set up the factor. A user with a factor cannot sign in without one. */
  isSetUp(sub: string, kit: EndpointKit): boolean | Promise<boolean>
  /** Whether the code is right, and is used for the first time. `signIn()` limits how often a user can guess. */
  verify(sub: string, code: string, kit: EndpointKit): boolean | Promise<boolean>
  /**
   * Removes what the user has set up, for a user who has lost it. Called again after a failure, and for a user who has set
   * up nothing. Absent: administrators cannot reset second factors. It can return how much it has removed, as
   * `{ apps: 1, recoveryCodes: 8 }`, which administrators are shown.
   */
  readonly reset?: ((sub: string, kit: EndpointKit) => unknown) | undefined
}
