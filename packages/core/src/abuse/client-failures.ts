import type { Recorder, Trace } from '../events/trace.ts'
import type { MaybePromise } from '../json.ts'
import { after, allOf } from '../promises.ts'
import { siteOf } from './address-group.ts'
import { createFailureSlots, type FailureSlots } from './failure-slots.ts'
import type { LimitDeps } from './limit-deps.ts'
import type { AbuseControl } from './options.ts'

/** The client and address of a password attempt. */
export interface Source {
  readonly clientId: string
  /** `undefined` if the adapter does not report it. Then only the limit of the whole client applies. */
  readonly address: string | undefined
}

/**
 * Limits the failed passwords through a client. Each site can use only a part of the client's limit, so that one source
 * cannot use it up.
 *
 * @see docs/decisions/0030-the-allowance-of-a-client-is-shared-out.md
 */
export interface ClientFailures {
  /** Returns the seconds that an attempt has to wait if the client or the source has reached its limit. */
  waitOf(source: Source): MaybePromise<number | undefined>
  /**
   * Call it after an attempt, before returning the outcome. Counts a failure, exactly across all processes.
   *
   * @returns seconds to wait if the limit was already reached: then the caller must not reveal whether the password was
   * right.
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
    // Before the storage responds, so that attempts that end in the meantime see this failure.
    const announced = counted.map(({ slots, name }) => slots.announce(name))
    const withdrawNext = (): void => announced.shift()?.()
    try {
      // A success does this read too, so both take the same time.
      const late = await reached(counted)
      if (late !== undefined) return late
      // The source's part first: a source that has used it up must not use more of the client's limit.
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
