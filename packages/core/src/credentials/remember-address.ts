import type { PasswordLimits } from '../abuse/password-limits.ts'
import type { UserService } from '../directory/user-service.ts'
import { describeCause } from '../events/cause.ts'
import type { Recorder } from '../events/recorder.ts'
import { foldedUsername, typedName } from '../folded-text.ts'
import type { RememberAddress } from '../parts/authenticate-user.ts'
import { attemptOf, authenticated } from './password-check.ts'

/** @see docs/guides/abuse-control.md, "A new password" */
export function createRememberAddress(deps: {
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
        // Otherwise the spelling, or the name in this tenant, is that of another user, whose failures must stay.
        const user = await authenticated(users, credentials, client, { recorder, trace })
        if (user?.sub === sub) await limits.makeKnown(attemptOf(credentials, client, clientAddress))
      }
    } catch (error) {
      // The password has been changed: the user waits at most as long as without this.
      const reason = 'address_not_remembered'
      recorder.record(trace, { type: 'unhandled_failure', reason, cause: describeCause(error) })
    }
  }
}
