import { hostname, userInfo } from 'node:os'

/** Returns the account and the machine of a command, for the audit trail. */
export function localAccount(): string {
  try {
    return `${userInfo().username}@${hostname()}`
  } catch {
    // A container can run as a user without a name.
    return `uid ${process.getuid?.()}@${hostname()}`
  }
}
