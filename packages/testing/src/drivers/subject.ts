import type { AtomicDriver, MaybePromise } from '@grantry/core'

/** A driver to test, and options for the tests. */
export interface DriverSubject {
  /** Creates a driver, as a program does at its start. Called many times; every driver must use the same storage. */
  open(): MaybePromise<AtomicDriver>
  /**
   * A JavaScript module that exports the same `open`, for child processes on Node.js. Pass parameters in its query or
   * in environment variables. Without it, the proofs between processes are skipped.
   */
  readonly module?: URL | undefined
  /** Number of child processes; default 4. */
  readonly processes?: number | undefined
  /**
   * Makes the storage unavailable and then available again with all its items. Without it, outages are only simulated.
   */
  readonly outage?: { begin(): MaybePromise<void>; end(): MaybePromise<void> } | undefined
  /**
   * Seconds that an operation may take; default 5, as in the core. More is for a test machine that is busy: a driver that
   * needs it makes the core respond with 503.
   */
  readonly operationTimeout?: number | undefined
  /** Repetitions of proofs that depend on timing; default 1. */
  readonly rounds?: number | undefined
}

const isCount = (value: unknown, most: number): boolean =>
  value === undefined || (Number.isInteger(value) && Number(value) >= 1 && Number(value) <= most)

/** @throws TypeError when the subject is malformed. */
export function assertSubject(subject: DriverSubject): void {
  const { open, module, processes, outage, rounds, operationTimeout } = subject
  if (typeof open !== 'function') throw new TypeError('open must be a function that returns a driver')
  if (module !== undefined && !(module instanceof URL)) throw new TypeError('module must be a URL')
  if (!isCount(processes, 32) || processes === 1) throw new TypeError('processes must be a whole number, 2 to 32')
  if (!isCount(rounds, 1000)) throw new TypeError('rounds must be a whole number, 1 to 1000')
  if (!isCount(operationTimeout, 60)) throw new TypeError('operationTimeout must be a whole number, 1 to 60')
  if (outage !== undefined && (typeof outage.begin !== 'function' || typeof outage.end !== 'function')) {
    throw new TypeError('outage must have begin() and end()')
  }
}
