/** Keys in the order in which they end, by the second. Adding and taking one cost what the number of distinct seconds asks of a heap. */
export interface ExpiryQueue {
  /** Keys that were added and not taken, one that was added twice counted twice. */
  readonly size: number
  add(key: string, second: number): void
  /** A key that ended before this second, or `undefined` when there is none; idle time in between costs nothing. */
  take(before: number): string | undefined
  clear(): void
}

export function createExpiryQueue(): ExpiryQueue {
  const keys = new Map<number, string[]>()
  // A binary heap of the seconds that have keys, the smallest first.
  const seconds: number[] = []
  const at = (index: number): number => seconds[index] ?? Number.POSITIVE_INFINITY

  function swap(one: number, other: number): void {
    const kept = at(one)
    seconds[one] = at(other)
    seconds[other] = kept
  }

  function push(second: number): void {
    let index = seconds.push(second) - 1
    while (index > 0) {
      const parent = (index - 1) >> 1
      if (at(parent) <= second) return
      swap(index, parent)
      index = parent
    }
  }

  function dropSmallest(): void {
    const last = seconds.pop()
    if (last === undefined || seconds.length === 0) return
    seconds[0] = last
    let index = 0
    for (;;) {
      const left = 2 * index + 1
      const smaller = at(left + 1) < at(left) ? left + 1 : left
      if (at(smaller) >= last) return
      swap(index, smaller)
      index = smaller
    }
  }

  let size = 0

  return {
    get size() {
      return size
    },
    add(key, second) {
      size += 1
      const there = keys.get(second)
      if (there !== undefined) {
        there.push(key)
        return
      }
      keys.set(second, [key])
      push(second)
    },
    take(before) {
      const second = at(0)
      if (second >= before) return undefined
      const there = keys.get(second)
      const key = there?.pop()
      if (key !== undefined) size -= 1
      if (there === undefined || there.length === 0) {
        keys.delete(second)
        dropSmallest()
      }
      return key
    },
    clear() {
      keys.clear()
      seconds.length = 0
      size = 0
    },
  }
}
