import type { MaybePromise } from '../types.ts'

/** Limits the number of concurrent tasks per key in this process. Waiting tasks start in order of arrival. */
export interface KeyedQueue {
  /**
   * Returns `true` if the task can start. Otherwise resolves to `true` when it can, or to `false` if that takes longer
   * than the timeout. After `true`, the caller must call `leave` when the task has ended.
   */
  enter(key: string): MaybePromise<boolean>
  leave(key: string): void
}

interface KeyState {
  running: number
  /** A set, because a task that times out is removed from the middle. */
  readonly waiting: Set<() => void>
}

/**
 * @param concurrency the maximum number of concurrent tasks with the same key
 * @param timeout milliseconds after which a waiting task gives up, so that a hanging task does not block others forever
 */
export function createKeyedQueue(concurrency: number, timeout: number): KeyedQueue {
  // A key is removed with its last task, so memory use is proportional to the tasks in progress.
  const states = new Map<string, KeyState>()
  return {
    enter(key) {
      const state = states.get(key) ?? { running: 0, waiting: new Set() }
      states.set(key, state)
      if (state.running < concurrency) {
        state.running += 1
        return true
      }
      return new Promise((resolve) => {
        const start = (): void => {
          clearTimeout(timer)
          state.waiting.delete(start)
          resolve(true)
        }
        const timer = setTimeout(() => {
          state.waiting.delete(start)
          resolve(false)
        }, timeout)
        state.waiting.add(start)
      })
    },
    leave(key) {
      const state = states.get(key)
      if (state === undefined) return
      const [next] = state.waiting
      // The next task takes over the place of this one, so `running` does not change.
      if (next !== undefined) next()
      else if (state.running > 1) state.running -= 1
      else states.delete(key)
    },
  }
}
