/** Lets a task wait for those of the same name that began before it, in this process. */
export interface ArrivalOrder {
  /** Notes that a task begins; it must call `end`. `earlier` settles when all that began before have ended. */
  begin(name: string): { readonly earlier: Promise<void>; end(): void }
}

export function createArrivalOrder(): ArrivalOrder {
  const last = new Map<string, Promise<void>>()
  return {
    begin(name) {
      const earlier = last.get(name) ?? Promise.resolve()
      let end: () => void = () => {}
      const own = new Promise<void>((resolve) => {
        end = resolve
      })
      const all = earlier.then(() => own)
      last.set(name, all)
      // The name is forgotten with its last task: memory follows what is under way.
      void all.then(() => {
        if (last.get(name) === all) last.delete(name)
      })
      return { earlier, end }
    },
  }
}
