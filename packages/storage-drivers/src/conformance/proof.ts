import type { Bench } from './bench.ts'

/** One promise of a driver and its test. */
export interface Proof {
  /** What a correct driver does. */
  readonly name: string
  /** The option of the subject that the proof requires. */
  readonly needs?: 'module' | 'outage'
  /** Set when the proof mostly waits, so that it can run in parallel with others. */
  readonly waits?: true
  /** Reports failures to the bench. An exception counts as a failure too. */
  examine(bench: Bench): Promise<void>
}
