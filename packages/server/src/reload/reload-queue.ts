/**
 * Returns a function that runs `run`, never twice at the same time. Calls during a run share one more run, which begins
 * when it has ended: what a caller has changed before its call is seen, and a thousand calls cost two runs.
 */
export function createReloadQueue<T>(run: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined
  let next: Promise<T> | undefined

  function begin(): Promise<T> {
    next = undefined
    running = run().finally(() => {
      running = undefined
    })
    return running
  }

  return () => {
    if (next !== undefined) return next
    if (running === undefined) return begin()
    next = running.then(begin, begin)
    return next
  }
}
