import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from './random.ts'

export interface Work {
  /** What each actor does again and again. */
  readonly actors: readonly (() => Promise<void>)[]
  /** What is done to them meanwhile, until the signal. */
  readonly chaos: (ended: AbortSignal) => Promise<void>
  readonly isEnough: () => boolean
  readonly random: Random
}

/** Milliseconds that an actor rests at most. */
const longestRest = 40

/** Everybody at work until it is enough. The chaos ends first: a failover that is under way is seen to its end by all. */
export async function workUntil({ actors, chaos, isEnough, random }: Work): Promise<void> {
  const enough = new AbortController()
  const calm = new AbortController()
  const act = async (step: () => Promise<void>): Promise<void> => {
    while (!calm.signal.aborted) {
      await step()
      await sleep(random.between(0, longestRest))
    }
  }
  const watch = async (): Promise<void> => {
    while (!enough.signal.aborted && !isEnough()) await sleep(100)
    enough.abort()
  }
  // One that cannot go on ends the run for all, and its error is the run's.
  const endAll = (error: unknown): never => {
    enough.abort()
    calm.abort()
    throw error
  }
  const ends = await Promise.allSettled([
    ...actors.map((step) => act(step).catch(endAll)),
    chaos(enough.signal)
      .catch(endAll)
      .finally(() => calm.abort()),
    watch(),
  ])
  const failed = ends.find((end) => end.status === 'rejected')
  if (failed !== undefined) throw failed.reason
}
