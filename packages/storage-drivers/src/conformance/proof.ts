import type { Bench } from './bench.ts'

/** One promise of a driver, and how it is put to the test. */
export interface Proof {
  /** What a good driver does. */
  readonly name: string
  /** What of the subject it cannot do without. */
  readonly needs?: 'module' | 'outage'
  /** Mostly waits, for the clock or for one operation after the other, so that it may run beside others. */
  readonly waits?: true
  /** Tells the bench what is broken. What it throws counts as broken too. */
  examine(bench: Bench): Promise<void>
}
