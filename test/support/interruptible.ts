import type { AtomicDriver } from '@grantry/core'

/** A driver that lets something happen before one of its calls. */
export function interruptible(driver: AtomicDriver) {
  let left = Number.POSITIVE_INFINITY
  let act: (() => Promise<void>) | undefined
  const storage = new Proxy(driver, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name)
      if (typeof member !== 'function') return member
      return async (...values: readonly unknown[]) => {
        left -= 1
        if (left < 0) {
          const interruption = act
          act = undefined
          left = Number.POSITIVE_INFINITY
          await interruption?.()
        }
        return member.apply(target, values)
      }
    },
  })
  return {
    storage,
    /** @param calls those that are made before */
    interruptAfter(calls: number, interruption: () => Promise<void>) {
      left = calls
      act = interruption
    },
    /** Whether the interruption is still to happen. Forgets it. */
    isLeft() {
      const wasLeft = act !== undefined
      act = undefined
      return wasLeft
    },
  }
}
