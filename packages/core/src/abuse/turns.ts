/** Lets so many tasks of one name go at a time, in this process, in the order in which they came. */
export interface Turns {
  /** Resolves when it is this task's turn, to `true`, or to `false` when it has waited too long. Whoever hears `true` must call `end`. */
  begin(name: string): Promise<boolean>
  end(name: string): void
}

interface Line {
  under: number
  /** A set: one that waits too long leaves from the middle. */
  readonly waiting: Set<(turn: boolean) => void>
}

/**
 * @param places how many of one name go at a time
 * @param patience milliseconds that a task waits: one that hangs must not hold up the others for good
 */
export function createTurns(places: number, patience: number): Turns {
  // A name is forgotten with its last task: memory follows what is under way.
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
