/** Runs `act` once all earlier calls for the same key have settled, fulfilled or rejected. */
export type KeyLock = <T>(key: string, act: () => Promise<T>) => Promise<T>

/** Creates an in-process lock per key. Idle keys use no memory. */
export function createKeyLock(): KeyLock {
  const tails = new Map<string, Promise<unknown>>()
  return async (key, act) => {
    const earlier = tails.get(key)
    const result = earlier === undefined ? act() : earlier.then(act)
    // The next call waits until this one settles, not until it succeeds.
    const tail = result.then(
      () => undefined,
      () => undefined,
    )
    tails.set(key, tail)
    try {
      return await result
    } finally {
      if (tails.get(key) === tail) tails.delete(key)
    }
  }
}
