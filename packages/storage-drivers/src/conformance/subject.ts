import type { AtomicDriver, MaybePromise } from '@grantry/core'

/** A driver to be proved, and what there is to prove it with. */
export interface DriverSubject {
  /** Makes a driver, as a program does at its start. It is called many times; what is shared between processes must be the same each time. */
  open(): MaybePromise<AtomicDriver>
  /**
   * A module that exports `open` with the same meaning, for child processes: JavaScript that Node.js runs as it is. What it must know
   * can be in its query or in the environment. Without it nothing is proved between processes.
   */
  readonly module?: URL
  /** How many child processes race; default 4. */
  readonly processes?: number
  /** Takes the storage away and brings it back, with everything that was in it. Without it an outage is only simulated. */
  readonly outage?: { begin(): MaybePromise<void>; end(): MaybePromise<void> }
  /** How often everything is done that may fail by chance; default 1. */
  readonly rounds?: number
}

const isCount = (value: unknown, most: number): boolean =>
  value === undefined || (Number.isInteger(value) && Number(value) >= 1 && Number(value) <= most)

/** @throws TypeError with one sentence when it cannot be proved at all. */
export function assertSubject(subject: DriverSubject): void {
  const { open, module, processes, outage, rounds } = subject
  if (typeof open !== 'function') throw new TypeError('open must be a function that makes a driver')
  if (module !== undefined && !(module instanceof URL)) throw new TypeError('module must be a URL')
  if (!isCount(processes, 32) || processes === 1) throw new TypeError('processes must be a whole number, 2 to 32')
  if (!isCount(rounds, 1000)) throw new TypeError('rounds must be a whole number, 1 to 1000')
  if (outage !== undefined && (typeof outage.begin !== 'function' || typeof outage.end !== 'function')) {
    throw new TypeError('outage must have begin() and end()')
  }
}
