/** One time limit for many operations, with one timer for all of them: setting and clearing one for each costs as much as a pipelined command. */
export interface Deadlines {
  /** Calls `late` when the time is over, unless the returned function was called before. */
  start(late: () => void): () => void
}

/** @param limit milliseconds, the same for each, so the one that began first ends first */
export function createDeadlines(limit: number): Deadlines {
  const waiting = new Map<symbol, { readonly end: number; late(): void }>()
  let timer: ReturnType<typeof setTimeout> | undefined

  function look(): void {
    timer = undefined
    const now = performance.now()
    for (const [id, { end, late }] of waiting) {
      if (end > now) {
        timer = setTimeout(look, end - now)
        return
      }
      waiting.delete(id)
      late()
    }
  }

  return {
    start(late) {
      const id = Symbol()
      waiting.set(id, { end: performance.now() + limit, late })
      // The process lives as long as somebody waits, not as long as the timer runs.
      if (timer === undefined) timer = setTimeout(look, limit)
      else if (waiting.size === 1) timer.ref()
      return () => {
        if (waiting.delete(id) && waiting.size === 0) timer?.unref()
      }
    },
  }
}
