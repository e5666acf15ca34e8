/** Runs at most `limit` operations at the same time. The others wait. */
export function limitOpenings(limit: number, maxWaiting: number) {
  let running = 0
  const waiting: (() => void)[] = []
  async function free(): Promise<void> {
    if (running < limit) {
      running += 1
      return
    }
    if (waiting.length >= maxWaiting) throw new Error('Too many tenants are being opened')
    // The operation that ends passes its place to the next one.
    await new Promise<void>((resolve) => waiting.push(resolve))
  }
  return async <T>(operate: () => Promise<T>): Promise<T> => {
    await free()
    try {
      return await operate()
    } finally {
      const next = waiting.shift()
      if (next === undefined) running -= 1
      else next()
    }
  }
}
