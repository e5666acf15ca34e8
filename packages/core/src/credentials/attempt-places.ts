import { addressGroupOf } from '../abuse/address-group.ts'
import { hostPortBusy } from '../directory/host-port.ts'

/** Who attempts to log in. */
export interface Attempting {
  readonly person: string
  /** `undefined` if the host does not know it. */
  readonly address: string | undefined
}

/**
 * Limits the password attempts in progress. Attempts of one user wait for each other before the call of
 * `users.authenticate()`. Without this limit, the waiting attempts could occupy the whole server while the call hangs.
 */
export interface AttemptPlaces {
  /**
   * Takes a place. Half of the places are reserved for users with no other attempt in progress from their address.
   * Otherwise one account with hundreds of concurrent logins would occupy all of them.
   *
   * @returns a function that gives the place back; call it once.
   * @throws OAuthError `temporarily_unavailable` if no place is free.
   */
  take(attempting: Attempting): () => void
}

/** Places per allowed call of `users.authenticate()`. */
const placesPerCall = 4

export function createAttemptPlaces(maxHostCalls: number): AttemptPlaces {
  const places = placesPerCall * maxHostCalls
  let taken = 0
  const takenBy = new Map<string, number>()
  return {
    take({ person, address }) {
      const name = JSON.stringify([person, address && addressGroupOf(address)])
      const own = takenBy.get(name) ?? 0
      const isFull = own === 0 ? taken >= places : taken >= places / 2
      if (isFull) throw hostPortBusy('users.authenticate', maxHostCalls)
      taken += 1
      takenBy.set(name, own + 1)
      return () => {
        taken -= 1
        const left = (takenBy.get(name) ?? 1) - 1
        if (left === 0) takenBy.delete(name)
        else takenBy.set(name, left)
      }
    },
  }
}
