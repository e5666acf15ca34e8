import type { Recorder } from '../events/trace.ts'
import type { Store } from '../records/store.ts'
import type { Runtime } from '../runtime.ts'

/** What every limit counts with. */
export interface LimitDeps {
  /** Two providers on one store may both have a client `web`, and no failure of the one is the other's. */
  readonly issuer: string
  readonly store: Store
  readonly runtime: Runtime
  readonly recorder: Recorder
}
