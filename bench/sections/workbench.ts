import type { Bundles } from '../run/bundles.ts'
import type { Generator } from '../run/generator.ts'
import type { Plan } from '../run/measure-operation.ts'

/** What every section measures with. */
export interface Workbench {
  /** The folder of the benchmarks. */
  readonly bench: URL
  readonly bundles: Bundles
  readonly generator: Generator
  readonly plan: Plan
}
