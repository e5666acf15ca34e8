import { bundleWithPackages } from '../../test/support/bundle-with-packages.ts'
import { startOrderedProcesses } from '../../test/support/ordered-process.ts'
import type { Order, StoragePlace } from './orders.ts'

/** Processes that share a storage, each with its own provider. */
export interface Contenders {
  readonly count: number
  /** Rejects with the contender's error, or with its output if it has died. */
  order<T>(index: number, order: Order): Promise<T>
  stop(): Promise<void>
}

// Once for all storages.
let program: Promise<string> | undefined

export async function startContenders(place: StoragePlace, keys: unknown, count: number): Promise<Contenders> {
  program ??= bundleWithPackages(new URL('./programs/contender.ts', import.meta.url))
  const all = await startOrderedProcesses<Order>(await program, [place, keys], count)
  return {
    count,
    order: (index, order) => all[index % count]?.order(order) as never,
    async stop() {
      await Promise.all(all.map((each) => each.stop()))
    },
  }
}
