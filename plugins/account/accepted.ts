import type { AcceptedFactors, AuthorizationFeature } from '../authorization-endpoint/authorization-endpoint.ts'
import type { AccountServices } from './services.ts'

type SetUp = Pick<AccountServices, 'passkeys' | 'secondFactors' | 'linkedProviders'>

/**
 * Whether a sign-in accepts the factors that users set up.
 *
 * @param checks what the sign-in must have. `undefined`: the host checks them by an object of its own, so any object
 * counts.
 */
const isAccepted = (checks: readonly object[] | undefined, accepted: readonly object[]): boolean =>
  checks === undefined ? accepted.length > 0 : checks.every((check) => accepted.includes(check))

/**
 * Returns the objects that the sign-in must have for this port; `undefined` if the port does not have the function
 * that checks a sign-in.
 */
const itself = (port: object, name: string): readonly object[] | undefined => (name in port ? [port] : undefined)

/**
 * Creates the check that users cannot set up a factor that no sign-in asks for, nor a passkey or an account that no
 * sign-in accepts.
 */
export const checkAcceptedFor =
  ({ passkeys, secondFactors, linkedProviders }: SetUp): NonNullable<AuthorizationFeature['checkAccepted']> =>
  (accepted: AcceptedFactors) => {
    const ofSignIn = accepted.passkeys === undefined ? [] : [accepted.passkeys]
    if (passkeys !== undefined && !isAccepted(itself(passkeys, 'verify'), ofSignIn)) {
      return 'accountPage(): users would add passkeys that no sign-in accepts; pass the same passkeys to signIn()'
    }
    if (secondFactors !== undefined && !isAccepted(secondFactors.factors, accepted.secondFactors ?? [])) {
      return 'accountPage(): users would set up second factors that no sign-in asks for; pass them to signIn() as secondFactors, such as factors of storedSecondFactors()'
    }
    if (linkedProviders !== undefined && !isAccepted(itself(linkedProviders, 'links'), accepted.ways ?? [])) {
      return 'accountPage(): users would link accounts that no sign-in accepts; pass linkedProviders to signIn() as one of its ways'
    }
    return undefined
  }
