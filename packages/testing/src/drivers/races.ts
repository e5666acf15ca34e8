import type { Operations } from './operations.ts'
import type { ProofContext } from './proof-context.ts'
import { randomDelay } from './timing.ts'

type Race = (context: ProofContext, drivers: readonly Operations[], delay: () => Promise<void>) => Promise<void>

/** Repeats a race without delays and with random delays (as over a network): each finds different faults. */
export const racesOf =
  (race: Race) =>
  async (context: ProofContext, drivers: readonly Operations[]): Promise<void> => {
    for (let round = 0; round < context.rounds; round += 1) {
      await race(context, drivers, async () => {})
      await race(context, drivers, randomDelay)
    }
  }
