/** Writes and reads at the same time: each waits for the storage most of the time. */
const limit = 16

/** Calls `act` for each item, a few at a time, in their order. After a failure no more are started; the first is thrown. */
export async function concurrently<T>(items: readonly T[], act: (item: T) => Promise<void>): Promise<void> {
  const failures: unknown[] = []
  const rest = items.values()
  const work = async (): Promise<void> => {
    for (const item of rest) {
      if (failures.length > 0) return
      try {
        await act(item)
      } catch (failure) {
        failures.push(failure)
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, work))
  if (failures.length > 0) throw failures[0]
}
