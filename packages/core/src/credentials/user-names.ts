import { foldedName } from '../abuse/folded-name.ts'
import { createBoundedMap } from '../bounded-map.ts'
import { fingerprintOf, hashOf } from '../records/keys.ts'
import type { Runtime } from '../runtime.ts'

/** What an event says of a user name that somebody typed. */
export interface NamedUser {
  /** Absent where the name has not authenticated before. */
  readonly username?: string
  readonly usernameFingerprint: string
}

/**
 * Decides which user names may stand in events. People type passwords into the field of the user name, and a user service does not say whether a name
 * exists. So a name stands there once it has authenticated at this provider.
 */
export interface UserNames {
  /** This name has authenticated. */
  remember(username: string): void
  named(username: string): NamedUser
}

/** Names that one process remembers. */
const mostNames = 10_000

export function createUserNames(runtime: Runtime): UserNames {
  const known = createBoundedMap<true>(mostNames)
  // With a key: the plain hash of a weak password can be looked up in a dictionary.
  const key = runtime.base64url(runtime.randomBytes(32))
  return {
    remember: (username) => known.set(foldedName(username), true),
    named(username) {
      const name = foldedName(username)
      const usernameFingerprint = fingerprintOf(hashOf(JSON.stringify([key, name]), runtime))
      return known.get(name) ? { username, usernameFingerprint } : { usernameFingerprint }
    },
  }
}
