import type { AbuseControl } from '../abuse/abuse-control.ts'
import { createPasswordLimits } from '../abuse/password-limits.ts'
import type { LimitDeps } from '../abuse/window-limit.ts'
import type { ClientDirectory } from '../directory/clients.ts'
import type { UserService } from '../directory/user-service.ts'
import type { AuthenticateUser, ProvedEpochOf, RememberAddress } from '../parts/authenticate-user.ts'
import { type Capability, capabilityKind } from '../parts/capability.ts'
import { createAuthenticateUser } from './login.ts'
import { createPasswordCheck, type PasswordCheck } from './password-check.ts'
import { createRememberAddress } from './remember-address.ts'
import { createUserNames } from './user-names.ts'
import type { EpochOf } from './user-state.ts'

/** How users authenticate with a user name and password. */
export interface Passwords {
  /** For login pages. */
  readonly authenticateUser: AuthenticateUser
  readonly provedEpochOf: ProvedEpochOf
  readonly rememberAddress: RememberAddress
  /** For grants. */
  readonly checkPassword: PasswordCheck
}

export type OpenPasswords = (
  deps: LimitDeps & {
    readonly passwords: AbuseControl['passwords']
    readonly clients: ClientDirectory
    readonly users: UserService
    readonly maxHostCalls: number
    readonly epochOf: EpochOf
  },
) => Passwords

const open: OpenPasswords = ({ passwords, clients, users, maxHostCalls, epochOf, ...deps }) => {
  const { runtime, recorder } = deps
  const names = createUserNames(runtime)
  const limits = createPasswordLimits(passwords, deps)
  const checkPassword = createPasswordCheck({ users, maxHostCalls, limits, names, recorder, runtime })
  const rememberAddress = createRememberAddress({ users, limits, recorder })
  const login = createAuthenticateUser({ users, clients, checkPassword, names, recorder, epochOf })
  return { checkPassword, rememberAddress, ...login }
}

/**
 * The check of passwords with `users.authenticate`, its limits and events: `authenticateUser` of kits and of the provider.
 * `password()`, `signIn()` and `loginPage()` name it. A grant, an interaction or a login page of your own does so itself.
 *
 * @example
 * const pin = defineGrant({ grantType: 'urn:example:pin', requires: [passwords], … })
 */
export const passwords: Capability = { kind: 'capability', '~kind': capabilityKind, name: 'passwords', open }
