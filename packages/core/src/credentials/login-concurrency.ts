import { hostPortBusy } from '../directory/host-port.ts'

/** The user and the address of a login attempt. */
export interface LoginAttempt {
  readonly foldedName: string
  /** `undefined` if the host does not know the address. */
  readonly nameAtAddress: string | undefined
}

/**
 * Limits the password attempts in progress. Attempts of one user wait for each other before the call of
 * `users.authenticate()`. Without this limit, the waiting attempts could occupy the whole server while the call hangs.
 */
export interface LoginConcurrency {
  /**
   * Takes a slot. Half of the slots are reserved for users with no other attempt in progress from their address.
   * Otherwise one account with hundreds of concurrent logins would occupy all of them.
   *
   * @returns a function that releases the slot; call it once.
   * @throws OAuthError `temporarily_unavailable` if no slot is free.
   */
  acquire(attempt: LoginAttempt): () => void
}

/** Slots per allowed call of `users.authenticate()`. */
const slotsPerCall = 4

export function createLoginConcurrency(maxHostCalls: number): LoginConcurrency {
  const slots = slotsPerCall * maxHostCalls
  let taken = 0
  const takenBy = new Map<string, number>()
  return {
    acquire({ foldedName, nameAtAddress }) {
      const name = nameAtAddress ?? JSON.stringify([foldedName])
      const takenByUser = takenBy.get(name) ?? 0
      const isFull = takenByUser === 0 ? taken >= slots : taken >= slots / 2
      if (isFull) throw hostPortBusy('users.authenticate', maxHostCalls)
      taken += 1
      takenBy.set(name, takenByUser + 1)
      return () => {
        taken -= 1
        const left = (takenBy.get(name) ?? 1) - 1
        if (left === 0) takenBy.delete(name)
        else takenBy.set(name, left)
      }
    },
  }
}
