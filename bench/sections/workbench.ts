import type { Bundles } from '../run/bundles.ts'
import type { Generator } from '../run/generator.ts'
import type { Plan } from '../run/measure-operation.ts'

/** The tools and settings of the sections. */
export interface Workbench {
  /** The folder of the benchmarks. */
  readonly bench: URL
  readonly bundles: Bundles
  readonly generator: Generator
  readonly plan: Plan
}
