import type { Trace } from '../events/recorder.ts'
import { siteOf } from './address-group.ts'
import type { AbuseControl } from './options.ts'
import { createWindowLimit, type LimitDeps, type WindowLimit } from './window-limit.ts'

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
 * @see docs/decisions/0030-client-allowance-per-source.md
 */
export interface ClientFailures {
  /** Returns the seconds that an attempt has to wait if the client or the source has reached its limit. */
  waitOf(source: Source): Promise<number | undefined>
  /**
   * Call it after an attempt, before returning the outcome. Counts a failure, exactly across all processes.
   *
   * @returns seconds to wait if the limit was already reached: then the caller must not reveal whether the password was
   * right.
   */
  settle(source: Source, failed: boolean, trace: Trace): Promise<number | undefined>
}

/** A limit and the name under which it counts an attempt. */
interface Counted {
  readonly limit: WindowLimit
  readonly name: string
}

const firstOf = (waits: readonly (number | undefined)[]): number | undefined => waits.find((wait) => wait !== undefined)
const knownWait = (counted: readonly Counted[]): number | undefined =>
  firstOf(counted.map(({ limit, name }) => limit.knownWait(name)))
const markedWait = async (counted: readonly Counted[]): Promise<number | undefined> =>
  firstOf(await Promise.all(counted.map(({ limit, name }) => limit.markedWait(name))))

async function countFailure(counted: readonly Counted[], trace: Trace): Promise<number | undefined> {
  // Before the storage responds, so that attempts that end in the meantime see this failure. If the storage fails, it
  // remains announced under all limits: an attacker who changes the address would otherwise have unlimited guesses.
  const announced = counted.map(({ limit, name }) => limit.announce(name))
  const withdrawRest = (): void => {
    for (const left of announced) left.withdraw()
  }
  // A success does this read too, so both take the same time.
  const late = await markedWait(counted)
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
  const part = createWindowLimit(
    { failures: perAddress, window },
    { ...deps, limit: 'passwords.perClient.perAddress', marks: true },
  )
  const whole = createWindowLimit({ failures, window }, { ...deps, limit: 'passwords.perClient', marks: true })
  const countedUnder = ({ clientId, address }: Source): readonly Counted[] => [
    ...(address === undefined ? [] : [{ limit: part, name: JSON.stringify([clientId, siteOf(address)]) }]),
    { limit: whole, name: clientId },
  ]
  return {
    async waitOf(source) {
      const counted = countedUnder(source)
      return knownWait(counted) ?? markedWait(counted)
    },
    async settle(source, failed, trace) {
      const counted = countedUnder(source)
      const late = knownWait(counted)
      if (late !== undefined) return late
      return failed ? countFailure(counted, trace) : markedWait(counted)
    },
  }
}
