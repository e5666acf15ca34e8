export const sleep = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, milliseconds)
  })

/** Waits a random 0 to 5 ms, to vary the order of store operations. */
export const randomDelay = (): Promise<void> => sleep(Math.random() * 5)

/**
 * Yields to other work, in a loop over a driver that may resolve in the same tick. Measured on Node.js: 1 ms timers
 * whose work takes longer are always due, so callbacks for disk and network never run.
 *
 * @param since start of the work, by `performance.now()`
 */
export const yieldToOthers = (since: number): Promise<void> => sleep(1 + 3 * (performance.now() - since))

/** Returned by `within` when the time limit passes. */
export const timedOut: unique symbol = Symbol('too late')

/** Returns the result of the operation, or `tooLate` after this many seconds. */
export async function withTimeout<T>(operation: Promise<T>, seconds: number): Promise<T | typeof timedOut> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const end = new Promise<typeof timedOut>((resolve) => {
    timer = setTimeout(() => resolve(timedOut), seconds * 1000)
  })
  try {
    return await Promise.race([operation, end])
  } finally {
    clearTimeout(timer)
  }
}
