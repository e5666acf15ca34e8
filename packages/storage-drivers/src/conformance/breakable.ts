import type { AtomicDriver } from '@grantry/core'
import { intercepted } from './intercepted.ts'

/**
 * How a storage goes wrong from one operation on. `dies`: nothing is performed or answered any more, as when the process ends. `fails`:
 * everything rejects and nothing is performed. `forgets`: this one operation is performed and its answer lost.
 */
export type Breakage = 'dies' | 'fails' | 'forgets'

/** A driver that goes wrong when it is told to. */
export interface Breakable {
  readonly storage: AtomicDriver
  /** What was performed since the last `breakAfter`, by operation and kind: `insertItem spent`. */
  readonly performed: readonly string[]
  /** Lets so many operations through and then goes wrong. */
  breakAfter(operations: number, how: Breakage): void
  /** When it has gone wrong and everything that was under way has ended. */
  readonly broken: Promise<void>
  /** Lets everything through again, after what was kept waiting has failed and the request that waited for it has ended. */
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

  const lost = (): Error => new Error('The connection to the storage is lost')

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
      // A dead process performs nothing more: what is woken meets a storage that fails.
      left = 0
      how = 'fails'
      for (const wake of waiting) wake()
      waiting = []
      await request
      left = Number.POSITIVE_INFINITY
    },
  }
}
