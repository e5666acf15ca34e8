export const sleep = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, milliseconds)
  })

/** Whole operations of a store in one order or another: each call waits 0 to 5 ms. */
export const anyMoment = (): Promise<void> => sleep(Math.random() * 5)

/**
 * For a loop over a driver that may answer in the same tick: gives everything else its turn. Measured on Node.js: timers of 1 ms whose work
 * takes longer are always due, and what waits for a disk or a network is never served.
 *
 * @param since when the work began, by `performance.now()`
 */
export const giveWay = (since: number): Promise<void> => sleep(1 + 3 * (performance.now() - since))

/** What was asked for takes too long. */
export const tooLate: unique symbol = Symbol('too late')

/** What the operation gives, or `tooLate` after so many seconds. */
export async function within<T>(operation: Promise<T>, seconds: number): Promise<T | typeof tooLate> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const end = new Promise<typeof tooLate>((resolve) => {
    timer = setTimeout(() => resolve(tooLate), seconds * 1000)
  })
  try {
    return await Promise.race([operation, end])
  } finally {
    clearTimeout(timer)
  }
}
