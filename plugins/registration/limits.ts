import { type Kit, siteOf } from '@grantry/core'
import type { Settings } from './registration-options.ts'

/** How a registration was admitted. */
export type AdmittedBy = 'token' | 'statement' | 'open'

/** Seconds for which a count outlives its period, because clocks differ. */
const allowance = 60

/** Sites that a process remembers as over their limit: a flood must not reach the storage. */
const maxRemembered = 10_000

/** Changes of one client in a window. Each can leave the records of 16 origins. */
const maxChanges = 20

/** Limits changes of registrations, and registrations without a token or a statement, by the address of the caller. */
export interface RegistrationLimits {
  /** @throws OAuthError if there were too many, over all processes */
  take(clientAddress: string | undefined, kit: Kit): Promise<void>
  /**
   * Takes a change of a client, which counts like a registration, unless a token has admitted the client.
   *
   * @throws OAuthError as `take`
   */
  takeChange(
    client: { readonly clientId: string; readonly by: AdmittedBy | undefined },
    clientAddress: string | undefined,
    kit: Kit,
  ): Promise<void>
}

export function createRegistrationLimits({
  maxTotal,
  maxPerAddress = Math.min(100, maxTotal),
  window,
}: Pick<Settings, 'maxPerAddress' | 'maxTotal' | 'window'>): RegistrationLimits {
  let current = Number.NEGATIVE_INFINITY
  let reached = new Set<string>()

  /** Starts a count in the window of this moment. */
  function counting(kit: Kit) {
    const at = Math.floor(kit.now() / window)
    const end = (at + 1) * window
    if (at !== current) [current, reached] = [at, new Set()]
    const retryAfter = Math.max(1, Math.ceil(end - kit.now()))
    async function count(name: string, most: number): Promise<boolean> {
      if (reached.has(name)) return false
      const isWithin = (await kit.records.increment(`registrations:${name}:${at}`, end + allowance)) <= most
      if (!isWithin && reached.size < maxRemembered) reached.add(name)
      return isWithin
    }
    return { count, retryAfter }
  }

  async function take(clientAddress: string | undefined, kit: Kit): Promise<void> {
    const { count, retryAfter } = counting(kit)
    // Counts the site first: a site that is over its limit must not use up the total.
    if (clientAddress !== undefined && !(await count(`site ${siteOf(clientAddress)}`, maxPerAddress))) {
      const facts = { status: 429, retryAfter } as const
      throw kit.refuse('slow_down', 'Too many registrations from this address', 'too_many_of_address', facts)
    }
    if (await count('all', maxTotal)) return
    throw kit.refuse('temporarily_unavailable', 'Too many registrations, try again later', 'too_many', { retryAfter })
  }

  return {
    take,
    async takeChange({ clientId, by }, clientAddress, kit) {
      const { count, retryAfter } = counting(kit)
      if (!(await count(`client ${clientId}`, maxChanges))) {
        const facts = { status: 429, retryAfter } as const
        throw kit.refuse('slow_down', 'Too many changes of this client', 'too_many_of_client', facts)
      }
      if (by !== 'token') await take(clientAddress, kit)
    },
  }
}
