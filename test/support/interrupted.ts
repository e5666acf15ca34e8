import type { AtomicDriver } from '@grantry/core'

/** A driver that performs an act, once, before one of the calls that follow. */
export function interruptible(driver: AtomicDriver) {
  let pending: { left: number; readonly act: () => Promise<unknown> } | undefined

  /** Counts as a call. */
  async function call(): Promise<void> {
    if (pending === undefined) return
    pending.left -= 1
    if (pending.left >= 0) return
    const { act } = pending
    pending = undefined
    await act()
  }

  /** Counts the calls of other functions, too. */
  const counted = <T extends object>(calls: T): T =>
    new Proxy(calls, {
      get(target, name) {
        const method: unknown = Reflect.get(target, name)
        if (typeof method !== 'function') return method
        return async (...values: readonly unknown[]) => {
          await call()
          return method.apply(target, values)
        }
      },
    })

  return {
    storage: counted(driver),
    counted,
    call,
    /**
     * Runs a step, and the act before call number `calls` of it.
     *
     * @returns what the step returns; `undefined` if it makes fewer calls: the act was not performed
     */
    async during<T>(calls: number, act: () => Promise<unknown>, step: () => Promise<T>): Promise<T | undefined> {
      pending = { left: calls, act }
      const result = await step()
      const isDone = pending === undefined
      pending = undefined
      return isDone ? result : undefined
    },
  }
}

/** Most calls that a request makes. */
const maxCalls = 300

/**
 * Runs an attempt for each of the calls that a request makes: 0, 1 and so on.
 *
 * @param only the calls `first`, `first + step` and so on, where many cases share the time
 * @param attempt returns `undefined` when the request makes fewer calls
 */
export async function atEachCall<T>(
  attempt: (calls: number) => Promise<T | undefined>,
  { first = 0, step = 1 }: { readonly first?: number; readonly step?: number } = {},
): Promise<readonly T[]> {
  const results: T[] = []
  for (let calls = first; calls < maxCalls; calls += step) {
    const result = await attempt(calls)
    if (result === undefined) return results
    results.push(result)
  }
  throw new Error(`The request makes more than ${maxCalls} calls`)
}
