import type { AtomicDriver } from '@grantry/core'
import { intercepted } from './intercepted.ts'

/**
 * How a storage breaks at some operation. `dies`: from then on, operations are neither performed nor settled, as when
 * the process ends. `fails`: from then on, operations reject and are not performed. `forgets`: one operation is
 * performed, but its result is lost.
 */
export type Breakage = 'dies' | 'fails' | 'forgets'

/** A driver that breaks on request. */
export interface Breakable {
  readonly storage: AtomicDriver
  /** The operations performed since the last `breakAfter`, as operation and kind of key: `insertItem spent`. */
  readonly performed: readonly string[]
  /** Passes this number of operations through, then breaks. */
  breakAfter(operations: number, how: Breakage): void
  /** Resolves when the driver has broken and all operations in flight have settled. */
  readonly broken: Promise<void>
  /** Rejects the pending operations, waits for the request to end, and then passes all operations through again. */
  mend(request: Promise<unknown>): Promise<void>
}

export function breakable(driver: AtomicDriver): Breakable {
  let left = Number.POSITIVE_INFINITY
  let how: Breakage = 'fails'
  let performed: string[] = []
  let waiting: (() => void)[] = []
  let underWay: Promise<unknown>[] = []
  let tellBroken = (): void => {}
  let broken = Promise.resolve()

  const lost = (): Error => new Error('The connection to the storage was lost')

  const storage = intercepted(driver, async (act, operation, key) => {
    left -= 1
    if (left >= 0 || (left < -1 && how === 'forgets')) {
      performed.push(`${operation} ${key.slice(0, key.indexOf(':'))}`)
      const acting = act()
      underWay.push(acting)
      return acting
    }
    tellBroken()
    if (how === 'forgets') {
      performed.push(`${operation} ${key.slice(0, key.indexOf(':'))}`)
      await act()
    }
    if (how === 'dies') await new Promise<void>((resolve) => waiting.push(resolve))
    throw lost()
  })

  return {
    storage,
    get performed() {
      return performed
    },
    get broken() {
      return broken.then(async () => {
        await Promise.allSettled(underWay)
      })
    },
    breakAfter(operations, breakage) {
      left = operations
      how = breakage
      performed = []
      underWay = []
      broken = new Promise((resolve) => {
        tellBroken = resolve
      })
    },
    async mend(request) {
      // A dead process performs no more operations, so those that resume must fail.
      left = 0
      how = 'fails'
      for (const wake of waiting) wake()
      waiting = []
      await request
      left = Number.POSITIVE_INFINITY
    },
  }
}
