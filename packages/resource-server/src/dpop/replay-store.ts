/** Remembers the proofs that were used. */
export interface ReplayStore {
  /**
   * Stores an id that is not stored yet, in one atomic step. Of concurrent calls with the same id, in all processes, only
   * one may get `true`.
   *
   * @param id 43 characters of base64url
   * @param expiresAt epoch seconds, a whole number: from then on, the id can be forgotten
   * @returns whether the id was not stored yet
   */
  insert(id: string, expiresAt: number): boolean | Promise<boolean>
}

/**
 * Remembers proofs in memory: a proof can be used once in each store. Its size has no limit of its own, because each
 * entry costs its sender a signature and lives for two minutes.
 *
 * @param now epoch seconds
 */
export function memoryReplayStore(now: () => number = () => Date.now() / 1000): ReplayStore {
  const used = new Map<string, number>()
  return {
    insert(id, expiresAt) {
      const time = now()
      // Almost in the order of their expiry.
      for (const [oldest, until] of used) {
        if (until > time) break
        used.delete(oldest)
      }
      if ((used.get(id) ?? 0) > time) return false
      used.set(id, expiresAt)
      return true
    },
  }
}

const ofProcess = new WeakMap<() => number, ReplayStore>()

/**
 * Returns the store of this process. Resource servers share it, because a proof is valid at each of them that has the
 * same URL. Those with another clock have another store: entries that expire by different clocks have no order.
 *
 * @param now epoch seconds
 */
export function processReplayStore(now: () => number): ReplayStore {
  const store = ofProcess.get(now) ?? memoryReplayStore(now)
  ofProcess.set(now, store)
  return store
}
