/** Lets a task wait for those of the same name that began before it, in this process. */
export interface ArrivalOrder {
  /**
   * Notes that a task begins; it must call `end`. `earlier` says, when all that began before have ended, whether each did so in time: one that
   * hangs is not waited for longer.
   */
  begin(name: string): { readonly earlier: Promise<boolean>; end(): void }
}

/** @param limit milliseconds that a task may hold up later ones */
export function createArrivalOrder(limit: number): ArrivalOrder {
  const last = new Map<string, Promise<boolean>>()
  return {
    begin(name) {
      const earlier = last.get(name) ?? Promise.resolve(true)
      let settle: (inTime: boolean) => void = () => {}
      const own = new Promise<boolean>((resolve) => {
        settle = resolve
      })
      const timer = setTimeout(() => settle(false), limit)
      const all = earlier.then(async (inTime) => (await own) && inTime)
      last.set(name, all)
      // The name is forgotten with its last task: memory follows what is under way.
      void all.then(() => {
        if (last.get(name) === all) last.delete(name)
      })
      return {
        earlier,
        end() {
          clearTimeout(timer)
          settle(true)
        },
      }
    },
  }
}
