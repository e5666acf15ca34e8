import type { SweepState } from '@grantry/storage-drivers/postgresql'
import { bundle } from '../../test/support/bundle.ts'
import { type OrderedProcess, startOrderedProcesses } from '../../test/support/ordered-process.ts'

/** The table of a process that removes expired rows. */
export interface SweeperPlace {
  readonly url: string
  readonly prefix: string
}

/** Each returns the state of the process. `rest`: ends sweeping until the next `sweep`. */
export type SweeperOrder = 'sweep' | 'rest' | 'state'

/** Processes that remove the expired rows of a table. */
export interface Sweepers {
  order(order: SweeperOrder): Promise<SweepState>
  stop(): Promise<void>
}

/** Returns the rows that all have removed, and the worst of their delays. */
const sumOf = (states: readonly SweepState[]): SweepState => ({
  removed: states.reduce((sum, { removed }) => sum + removed, 0),
  age: Math.max(...states.map(({ age }) => age)),
  isBehind: states.some(({ isBehind }) => isBehind),
})

export async function startSweepers(place: SweeperPlace, count: number): Promise<Sweepers> {
  const program = await bundle(new URL('./programs/sweeper.ts', import.meta.url))
  const all: readonly OrderedProcess<SweeperOrder>[] = await startOrderedProcesses(program, place, count)
  return {
    order: async (order) => sumOf((await Promise.all(all.map((each) => each.order(order)))) as SweepState[]),
    async stop() {
      await Promise.all(all.map((each) => each.stop()))
    },
  }
}
