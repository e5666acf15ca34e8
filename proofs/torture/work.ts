import { pause } from '../../test/support/pause.ts'
import type { Random } from '../../test/support/random.ts'

export interface Work {
  /** What each actor does repeatedly. */
  readonly actors: readonly (() => Promise<void>)[]
  /** The faults meanwhile, until the signal. */
  readonly chaos: (ended: AbortSignal) => Promise<void>
  readonly isEnough: () => boolean
  readonly random: Random
}

/** Maximum pause of an actor in milliseconds. */
const longestRest = 40

/**
 * All actors work until the run has enough. The chaos ends first: every client sees the end of a failover in progress.
 */
export async function workUntil({ actors, chaos, isEnough, random }: Work): Promise<void> {
  const enough = new AbortController()
  const calm = new AbortController()
  const act = async (step: () => Promise<void>): Promise<void> => {
    while (!calm.signal.aborted) {
      await step()
      await pause(random.between(0, longestRest))
    }
  }
  const watch = async (): Promise<void> => {
    while (!enough.signal.aborted && !isEnough()) await pause(100)
    enough.abort()
  }
  // One that cannot continue ends the run for all, and its error is that of the run.
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
