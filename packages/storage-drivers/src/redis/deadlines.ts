/**
 * Applies one time limit to many operations with a single timer: a timer per operation costs as much as a pipelined
 * command.
 */
export interface Deadlines {
  /** Calls `late` at the time limit, unless the returned function is called first. */
  start(late: () => void): () => void
}

/** @param limit milliseconds; the same for all operations, so the oldest one expires first */
export function createDeadlines(limit: number): Deadlines {
  const waiting = new Map<symbol, { readonly end: number; late(): void }>()
  let timer: ReturnType<typeof setTimeout> | undefined

  function checkDeadlines(): void {
    timer = undefined
    const now = performance.now()
    for (const [id, { end, late }] of waiting) {
      if (end > now) {
        timer = setTimeout(checkDeadlines, end - now)
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
      // The timer keeps the process alive only while an operation is pending.
      if (timer === undefined) timer = setTimeout(checkDeadlines, limit)
      else if (waiting.size === 1) timer.ref()
      return () => {
        if (waiting.delete(id) && waiting.size === 0) timer?.unref()
      }
    },
  }
}
