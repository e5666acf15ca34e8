import type { Trace } from '../events/recorder.ts'
import type { AbuseControl } from './abuse-control.ts'
import { siteOf } from './address-group.ts'
import { createWindowLimit, type LimitDeps, type WindowLimit } from './window-limit.ts'

/** The client and address of a password attempt. */
export interface Source {
  readonly clientId: string
  /** `undefined` if the adapter does not report the address. Then only the limit of the whole client applies. */
  readonly address: string | undefined
}

/**
 * Limits the failed passwords through a client. Each site can use only a part of the client's limit, so that one source
 * cannot use it up.
 *
 * @see docs/decisions/0030-client-allowance-per-source.md
 */
export interface ClientFailures {
  /**
   * Returns the seconds that an attempt has to wait if the client or the source has reached its limit. Call it before an
   * attempt, and again before returning a success: another attempt may have reached the limit in the meantime.
   */
  waitOf(source: Source): Promise<number | undefined>
  /** Like `waitOf()`, but decides by what this process knows, without a read of the storage. */
  knownWait(source: Source): number | undefined
  /**
   * Counts a failure, exactly across all processes. Call it before returning the outcome.
   *
   * @returns seconds to wait if the limit was already reached: then the caller must not reveal that the password was
   * wrong.
   */
  countFailure(source: Source, trace: Trace): Promise<number | undefined>
}

/** A limit and the name under which it counts an attempt. */
interface Counter {
  readonly limit: WindowLimit
  readonly name: string
}

const firstOf = (waits: readonly (number | undefined)[]): number | undefined => waits.find((wait) => wait !== undefined)
const knownWait = (counters: readonly Counter[]): number | undefined =>
  firstOf(counters.map(({ limit, name }) => limit.knownWait(name)))
const markedWait = async (counters: readonly Counter[]): Promise<number | undefined> =>
  firstOf(await Promise.all(counters.map(({ limit, name }) => limit.markedWait(name))))

async function countIn(counters: readonly Counter[], trace: Trace): Promise<number | undefined> {
  // Announced before the storage responds, so that attempts that end in the meantime see this failure. If the storage
  // fails, the failure remains announced under all limits: an attacker who changes the address would otherwise have
  // unlimited guesses.
  const announced = counters.map(({ limit, name }) => limit.announce(name))
  const withdrawRest = (): void => {
    for (const left of announced) left.withdraw()
  }
  // A success makes this read too, so that a failure takes the same time.
  const late = await markedWait(counters)
  if (late !== undefined) {
    withdrawRest()
    return late
  }
  // The source's part first: a source that has used it up must not use more of the client's limit.
  for (let next = announced.shift(); next !== undefined; next = announced.shift()) {
    const wait = await next.count(trace)
    if (wait !== undefined) {
      withdrawRest()
      return wait
    }
  }
  return undefined
}

export function createClientFailures(
  { failures, perAddress, window }: AbuseControl['passwords']['perClient'],
  deps: LimitDeps,
): ClientFailures {
  const sourceLimit = createWindowLimit(
    { failures: perAddress, window },
    { ...deps, limit: 'passwords.perClient.perAddress', marks: true },
  )
  const clientLimit = createWindowLimit({ failures, window }, { ...deps, limit: 'passwords.perClient', marks: true })
  const countersOf = ({ clientId, address }: Source): readonly Counter[] => [
    ...(address === undefined ? [] : [{ limit: sourceLimit, name: JSON.stringify([clientId, siteOf(address)]) }]),
    { limit: clientLimit, name: clientId },
  ]
  return {
    async waitOf(source) {
      const counters = countersOf(source)
      return knownWait(counters) ?? markedWait(counters)
    },
    // The usual case: no failure in this process.
    knownWait: (source) => (sourceLimit.isQuiet && clientLimit.isQuiet ? undefined : knownWait(countersOf(source))),
    async countFailure(source, trace) {
      const counters = countersOf(source)
      return knownWait(counters) ?? countIn(counters, trace)
    },
  }
}
