import type { AcceptedFactors, AuthorizationFeature } from '../authorization-endpoint/authorization-endpoint.ts'
import type { AccountServices } from './services.ts'

type SetUp = Pick<AccountServices, 'passkeys' | 'secondFactors' | 'linkedProviders'>

/**
 * Whether a sign-in accepts what users set up.
 *
 * @param checks what the sign-in must have. `undefined`: the host checks it by something else, which can be any of them.
 */
const isAccepted = (checks: readonly object[] | undefined, accepted: readonly object[]): boolean =>
  checks === undefined ? accepted.length > 0 : checks.every((check) => accepted.includes(check))

/** What the sign-in must have for this port; `undefined` if the port has no such function, so is not the check itself. */
const itself = (port: object, name: string): readonly object[] | undefined => (name in port ? [port] : undefined)

/** Users must not rely on a factor that no sign-in asks for, nor on a passkey or an account that none accepts. */
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
