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

/** Returned by `withTimeout` when the time limit passes. */
export const timedOut: unique symbol = Symbol('too late')

/** Milliseconds. */
const step = 100

/**
 * Returns the result of the operation, or `timedOut` after this many seconds. Counts short steps: a process that is
 * blocked, or waits for the processor, loses one of them and not the whole limit.
 */
export async function withTimeout<T>(operation: Promise<T>, seconds: number): Promise<T | typeof timedOut> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const end = new Promise<typeof timedOut>((resolve) => {
    let left = (seconds * 1000) / step
    const wait = (): void => {
      if (left <= 0) {
        resolve(timedOut)
        return
      }
      left -= 1
      timer = setTimeout(wait, step)
    }
    wait()
  })
  try {
    return await Promise.race([operation, end])
  } finally {
    clearTimeout(timer)
  }
}

/** Seconds within which a driver must work again after an outage. */
export const recoveryTimeout = 15
/** A busy machine makes few attempts in that time. */
const leastAttempts = 30

/** Repeats an operation until its result is acceptable, or a driver should have recovered. Returns the last result. */
export async function untilRecovered<T>(act: () => Promise<T>, isAcceptable: (result: T) => boolean): Promise<T> {
  const end = performance.now() + recoveryTimeout * 1000
  for (let attempt = 1; ; attempt += 1) {
    const result = await act()
    if (isAcceptable(result) || (attempt >= leastAttempts && performance.now() > end)) return result
    await sleep(100)
  }
}
