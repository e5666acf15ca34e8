/** Runs what it is given for a key when everything that was given earlier for the same key has ended, well or badly. */
export type KeyLock = <T>(key: string, act: () => Promise<T>) => Promise<T>

/** A lock per key, in this process. What is idle takes no memory. */
export function createKeyLock(): KeyLock {
  const tails = new Map<string, Promise<unknown>>()
  return async (key, act) => {
    const earlier = tails.get(key)
    const result = earlier === undefined ? act() : earlier.then(act)
    // The next one waits for the end, not for success.
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
