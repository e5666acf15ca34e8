// A process that dies between two steps of a change.
import type { AtomicDriver } from '@grantry/core'

/** Steps that succeed until the process dies. After a restart, all succeed. */
export function mortal() {
  let left = Number.POSITIVE_INFINITY
  /** Counts a step. */
  function step(): void {
    if (left === 0) throw new Error('The process has died')
    left -= 1
  }
  return {
    step,
    /** Dies after this number of steps. */
    dieAfter(steps: number): void {
      left = steps
    },
    /** Returns whether it had died. */
    restart(): boolean {
      const hadDied = left === 0
      left = Number.POSITIVE_INFINITY
      return hadDied
    },
    /** Each change of the storage is a step, and one that is lost fails. */
    wrap(driver: AtomicDriver): AtomicDriver {
      const { commit } = driver
      return {
        ...driver,
        setItem(key, value, options) {
          step()
          return driver.setItem(key, value, options)
        },
        removeItem(key, options) {
          step()
          return driver.removeItem(key, options)
        },
        insertItem(key, value, options) {
          step()
          return driver.insertItem(key, value, options)
        },
        incrementItem(key, options) {
          step()
          return driver.incrementItem(key, options)
        },
        ...(commit !== undefined && {
          commit(changes) {
            step()
            return commit(changes)
          },
        }),
      }
    },
  }
}
