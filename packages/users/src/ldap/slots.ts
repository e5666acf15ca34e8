interface Waiting {
  resolve(): void
  reject(error: Error): void
}

/** A number of slots, and a queue for them. */
export interface Slots {
  acquire(): Promise<void>
  release(): void
  /** Rejects those that wait, and later ones. */
  close(): void
}

const closed = (): Error => new Error('the connections were closed')

export function createSlots(max: number): Slots {
  const waiting = new Set<Waiting>()
  let used = 0
  let isClosed = false
  return {
    async acquire() {
      if (isClosed) throw closed()
      if (used >= max) return new Promise<void>((resolve, reject) => void waiting.add({ resolve, reject }))
      used += 1
      return undefined
    },
    release() {
      const [next] = waiting
      if (next === undefined) {
        used -= 1
        return
      }
      // The slot is passed on, so `used` does not change.
      waiting.delete(next)
      next.resolve()
    },
    close() {
      isClosed = true
      for (const each of waiting) each.reject(closed())
      waiting.clear()
    },
  }
}
