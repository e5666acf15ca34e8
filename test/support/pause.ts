/**
 * Waits. For the latency of a fake host, the pace of a client, the moment of a fault, or between two looks in a helper
 * that polls. Never to wait until something has happened: that is what `eventually.ts` is for. `test/architecture/`
 * lists the callers with their reasons.
 */
export const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, milliseconds)
  })

/** Waits for a random time up to this many milliseconds, to vary the order of events. */
export const randomPause = (longest: number): Promise<void> => pause(Math.random() * longest)
