import type { AtomicDriver } from '@grantry/core'
import { interceptOperations } from './intercept.ts'

/**
 * How a storage breaks at some operation. `dies`: from then on, operations are neither performed nor settled, as when
 * the process ends. `fails`: from then on, operations reject and are not performed. `forgets`: one operation is
 * performed, but its result is lost.
 */
export type Fault = 'dies' | 'fails' | 'forgets'

/** A driver that breaks on request. */
export interface FaultyStorage {
  readonly storage: AtomicDriver
  /** The operations performed since the last `breakAfter`, as operation and kind of key: `commit spent`. */
  readonly performed: readonly string[]
  /** Whether the driver has broken since the last `breakAfter`. */
  readonly isBroken: boolean
  /** Passes this number of operations through, then breaks. */
  breakAfter(operations: number, fault: Fault): void
  /** Resolves when the driver has broken and all operations in flight have settled. */
  readonly broken: Promise<void>
  /** Rejects the pending operations, waits for the request to end, and then passes all operations through again. */
  repair(request: Promise<unknown>): Promise<void>
}

export function createFaultyStorage(driver: AtomicDriver): FaultyStorage {
  let remaining = Number.POSITIVE_INFINITY
  let fault: Fault = 'fails'
  let performed: string[] = []
  let pending: (() => void)[] = []
  let inFlight: Promise<unknown>[] = []
  let isBroken = false
  let resolveBroken = (): void => {}
  let broken = Promise.resolve()

  const connectionLost = (): Error => new Error('The connection to the storage was lost')

  const storage = interceptOperations(driver, async (act, operation, key) => {
    remaining -= 1
    if (remaining >= 0 || (remaining < -1 && fault === 'forgets')) {
      performed.push(`${operation} ${key.slice(0, key.indexOf(':'))}`)
      const acting = act()
      inFlight.push(acting)
      return acting
    }
    isBroken = true
    resolveBroken()
    if (fault === 'forgets') {
      performed.push(`${operation} ${key.slice(0, key.indexOf(':'))}`)
      await act()
    }
    if (fault === 'dies') await new Promise<void>((resolve) => pending.push(resolve))
    throw connectionLost()
  })

  return {
    storage,
    get performed() {
      return performed
    },
    get isBroken() {
      return isBroken
    },
    get broken() {
      return broken.then(async () => {
        await Promise.allSettled(inFlight)
      })
    },
    breakAfter(operations, nextFault) {
      remaining = operations
      fault = nextFault
      performed = []
      inFlight = []
      isBroken = false
      broken = new Promise((resolve) => {
        resolveBroken = resolve
      })
    },
    async repair(request) {
      // A dead process performs no more operations, so those that resume must fail.
      remaining = 0
      fault = 'fails'
      for (const wake of pending) wake()
      pending = []
      await request
      remaining = Number.POSITIVE_INFINITY
    },
  }
}
