import { createBoundedMap } from '../bounded-map.ts'
import { domainOf, foldedName, foldedUsername } from '../folded-text.ts'
import { fingerprintOf } from '../records/keys.ts'
import { type Runtime, randomId } from '../runtime.ts'

/** Maps all spellings of a user name, also of the domain of an address, to the name under which its failures are counted. */
export const limitNameOf = (username: string): string => foldedName(foldedUsername(username))

/**
 * Whether a database may take one text for the name of the user that it has stored as the other: only if the domains are the
 * same, and failures are counted under one name. A collation or a matching rule can ignore more, such as hyphens or the
 * accents of a domain: each spelling would have its own limit for guesses, or pass the rules of another domain.
 */
export const isSameUsername = (typed: string, stored: string): boolean =>
  domainOf(typed) === domainOf(stored) && limitNameOf(typed) === limitNameOf(stored)

/** What an event contains about the user name of a login attempt. */
export interface UserDescription {
  /** Present only if the user name has authenticated before. */
  readonly username?: string
  readonly usernameFingerprint: string
}

/**
 * Decides which user names can appear in events. Users sometimes type their password as the user name, and the user
 * service does not report which names exist. Therefore a name appears only after it has authenticated at this provider.
 */
export interface UserNames {
  /** Records that a user name has authenticated. @param foldedName the name in its folded form */
  remember(foldedName: string): void
  describe(username: string): UserDescription
}

/** The maximum number of user names that a process remembers. */
const maxNames = 10_000

export function createUserNames(runtime: Runtime): UserNames {
  const known = createBoundedMap<true>(maxNames)
  // Keyed, because a dictionary attack finds the plain hash of a weak password.
  const key = randomId(runtime, 32)
  return {
    remember(name) {
      if (known.get(name) === undefined) known.set(name, true)
    },
    describe(username) {
      const name = limitNameOf(username)
      const usernameFingerprint = fingerprintOf(runtime.sha256Hex(JSON.stringify([key, name])))
      return known.get(name) ? { username, usernameFingerprint } : { usernameFingerprint }
    },
  }
}
