/**
 * Limits the number of concurrent tasks with the same name in this process. Waiting tasks start in order of arrival.
 */
export interface Turns {
  /**
   * Resolves to `true` when it is the task's turn, or to `false` if it has waited too long. After `true`, the caller
   * must call `end`.
   */
  begin(name: string): Promise<boolean>
  end(name: string): void
}

interface Line {
  under: number
  /** A set, because a task that times out is removed from the middle. */
  readonly waiting: Set<(turn: boolean) => void>
}

/**
 * @param places the maximum number of concurrent tasks with the same name
 * @param patience milliseconds after which a waiting task gives up, so that a hanging task does not block others
 * forever
 */
export function createTurns(places: number, patience: number): Turns {
  // A name is removed with its last task, so memory use is proportional to the tasks in progress.
  const lines = new Map<string, Line>()
  return {
    begin(name) {
      const line = lines.get(name) ?? { under: 0, waiting: new Set() }
      lines.set(name, line)
      if (line.under < places) {
        line.under += 1
        return Promise.resolve(true)
      }
      return new Promise((resolve) => {
        const settle = (turn: boolean): void => {
          clearTimeout(timer)
          line.waiting.delete(settle)
          resolve(turn)
        }
        const timer = setTimeout(() => settle(false), patience)
        line.waiting.add(settle)
      })
    },
    end(name) {
      const line = lines.get(name)
      if (line === undefined) return
      const [next] = line.waiting
      if (next !== undefined) next(true)
      else if (line.under > 1) line.under -= 1
      else lines.delete(name)
    },
  }
}
