import type { Recorder } from '../events/trace.ts'
import type { Store } from '../records/store.ts'
import type { Runtime } from '../runtime.ts'

/** The dependencies of every limit. */
export interface LimitDeps {
  /**
   * Part of every key: two providers with the same storage may both have a client `web`, and their failures are counted
   * separately.
   */
  readonly issuer: string
  readonly store: Store
  readonly runtime: Runtime
  readonly recorder: Recorder
}
