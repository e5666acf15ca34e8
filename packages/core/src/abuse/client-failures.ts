import type { Recorder, Trace } from '../events/trace.ts'
import type { MaybePromise } from '../json.ts'
import { after, allOf } from '../promises.ts'
import { siteOf } from './address-group.ts'
import { createFailureSlots, type FailureSlots } from './failure-slots.ts'
import type { LimitDeps } from './limit-deps.ts'
import type { AbuseControl } from './options.ts'

/** Through which client a password was tried, and from where. */
export interface Source {
  readonly clientId: string
  /** `undefined` where the host does not know it: then only the limit of the client as a whole holds. */
  readonly address: string | undefined
}

/**
 * Failed passwords through a client. Each site takes a part of what the client is allowed, so one source cannot use up the whole.
 *
 * @see docs/decisions/0030-the-allowance-of-a-client-is-shared-out.md
 */
export interface ClientFailures {
  /** Seconds that an attempt has to wait, where the client or the source has no failures left. */
  waitOf(source: Source): MaybePromise<number | undefined>
  /**
   * Stands between an attempt and its outcome. A failure is counted, exactly over all processes.
   *
   * @returns seconds to wait, where there were no failures left: then the outcome must not be told, be it right or wrong.
   */
  settle(source: Source, failed: boolean, trace: Trace): MaybePromise<number | undefined>
}

interface Counted {
  readonly limit: string
  readonly slots: FailureSlots
  readonly name: string
}

const limits = { part: 'passwords.perClient.perAddress', whole: 'passwords.perClient' } as const

export function createClientFailures(
  { failures, perAddress, window }: AbuseControl['passwords']['perClient'],
  { issuer, store, runtime, recorder }: LimitDeps & { readonly recorder: Recorder },
): ClientFailures {
  const part = createFailureSlots({ failures: perAddress, window }, { limit: limits.part, issuer, store, runtime })
  const whole = createFailureSlots({ failures, window }, { limit: limits.whole, issuer, store, runtime })
  const slotsOf = ({ clientId, address }: Source): readonly Counted[] => [
    ...(address === undefined
      ? []
      : [{ limit: limits.part, slots: part, name: JSON.stringify([clientId, siteOf(address)]) }]),
    { limit: limits.whole, slots: whole, name: clientId },
  ]
  const firstOf = (waits: readonly (number | undefined)[]): number | undefined =>
    waits.find((wait) => wait !== undefined)
  const reachedHere = (counted: readonly Counted[]): number | undefined =>
    firstOf(counted.map(({ slots, name }) => slots.reachedHere(name)))
  const reached = (counted: readonly Counted[]): MaybePromise<number | undefined> =>
    after(allOf(counted.map(({ slots, name }) => slots.waitOf(name))), firstOf)

  async function record(counted: readonly Counted[], trace: Trace): Promise<number | undefined> {
    // Before the store answers: attempts that end meanwhile have to know.
    const announced = counted.map(({ slots, name }) => slots.announce(name))
    const withdrawNext = (): void => announced.shift()?.()
    try {
      // A success has this look as well, so both take the same time.
      const late = await reached(counted)
      if (late !== undefined) return late
      // The part first: a source that has used it up takes nothing more of the whole.
      for (const { limit, slots, name } of counted) {
        withdrawNext()
        const { exceeded, wait } = await slots.record(name)
        if (exceeded) return wait
        if (wait !== undefined) recorder.record(trace, { type: 'abuse_limited', limit, retryAfter: wait })
      }
      return undefined
    } finally {
      while (announced.length > 0) withdrawNext()
    }
  }

  return {
    waitOf(source) {
      const counted = slotsOf(source)
      return reachedHere(counted) ?? reached(counted)
    },
    settle(source, failed, trace) {
      const counted = slotsOf(source)
      const late = reachedHere(counted)
      if (late !== undefined) return late
      return failed ? record(counted, trace) : reached(counted)
    },
  }
}
