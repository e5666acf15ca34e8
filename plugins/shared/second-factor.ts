import type { EndpointKit } from '@grantry/core'

/** A second proof of who the user is, which the user types after the password: a one-time password, a recovery code. */
export interface SecondFactor {
  /** The method in `amr`, such as `otp`. @see RFC 8176 section 2 */
  readonly amr: string
  /**
   * Whether the factor calls functions of the host by `kit.callHost` itself. Default: `false`; then all of
   * them are such functions, with a time limit.
   */
  readonly limitsHostCalls?: boolean | undefined
  /** Whether the user has set it up. A user who has set up a factor cannot sign in without one. */
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
