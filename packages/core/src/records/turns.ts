/** Runs tasks with the same key one after the other. */
export interface Turns {
  /** The number of keys with tasks in progress. */
  readonly size: number
  /** Runs a task when the earlier ones with this key have ended, or after the time limit. */
  take(key: string, task: () => Promise<void>): Promise<void>
}

/** Resolves when a task has ended, with any outcome, or after a time limit. */
const settled = (task: Promise<void>, limit: number): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, limit)
    const end = (): void => {
      clearTimeout(timer)
      resolve()
    }
    task.then(end, end)
  })

/**
 * For tasks that are also correct at the same time, but then disturb each other. One that hangs, or that a runtime has
 * abandoned together with its request, delays another one once.
 *
 * @param limit milliseconds that a task waits at most
 */
export function createTurns(limit: number): Turns {
  // The last task of each key, which is removed with it: memory use is proportional to the tasks in progress.
  const last = new Map<string, Promise<void>>()
  return {
    get size() {
      return last.size
    },
    async take(key, task) {
      const earlier = last.get(key)
      const current = earlier === undefined ? task() : settled(earlier, limit).then(task)
      last.set(key, current)
      try {
        await current
      } finally {
        if (last.get(key) === current) last.delete(key)
      }
    },
  }
}
