import type { AbuseControl } from '../abuse/abuse-control.ts'
import { createPasswordLimits, type PasswordLimits } from '../abuse/password-limits.ts'
import type { LimitDeps } from '../abuse/window-limit.ts'
import type { ClientDirectory } from '../directory/client-directory.ts'
import type { UserService } from '../directory/user-service.ts'
import { describeCause } from '../events/cause.ts'
import type { Recorder } from '../events/recorder.ts'
import { foldedUsername, typedName } from '../folded-text.ts'
import type { AuthenticateUser, ProvedEpochOf, RememberAddress } from '../parts/authenticate-user.ts'
import { type Capability, capabilityKind } from '../parts/capability.ts'
import { createAuthenticateUser } from './login.ts'
import { attemptOf, authenticated, createPasswordCheck, type PasswordCheck } from './password-check.ts'
import { createUserNames } from './user-names.ts'
import type { EpochOf } from './user-state.ts'

/** @see docs/guides/abuse-control.md, "A new password" */
function createRememberAddress(deps: {
  readonly users: UserService
  readonly limits: Pick<PasswordLimits, 'makeKnown'>
  readonly recorder: Recorder
}): RememberAddress {
  const { users, limits, recorder } = deps
  return async (input, { sub, client, clientAddress }) => {
    const trace = recorder.start('rememberAddress', { clientAddress })
    trace.client = client
    const typed = typedName(input.username)
    try {
      // Keyboards begin a name with a capital, and programs store it in lower case.
      for (const username of new Set([typed, foldedUsername(typed)])) {
        const credentials = { ...input, username }
        // If the password is wrong here, this spelling, or this name in this tenant, is that of another user, whose
        // failures must stay.
        const user = await authenticated(users, credentials, client, { recorder, trace })
        if (user?.sub === sub) await limits.makeKnown(attemptOf(credentials, client, clientAddress))
      }
    } catch (error) {
      // Not an error for the caller, because the password has already been changed. The user waits as long as if the
      // address were not remembered.
      const reason = 'address_not_remembered'
      recorder.record(trace, { type: 'unhandled_failure', reason, cause: describeCause(error) })
    }
  }
}

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
