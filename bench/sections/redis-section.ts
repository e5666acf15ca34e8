import { redisMissing } from '../../test/support/redis-server.ts'
import { median } from '../report/figures.ts'
import type { Section } from '../report/section.ts'
import { runInProgram } from '../run/run-in-program.ts'
import type { Workbench } from './workbench.ts'

/** Microseconds per operation in one slice: elapsed time and CPU time of the client. */
export interface Cost {
  readonly elapsed: number
  readonly cpu: number
}

/** Slices, measured alternately. */
export type RedisFigures = Readonly<Record<string, { readonly raw: readonly Cost[]; readonly driver: readonly Cost[] }>>

/** Compares the Redis driver with plain ioredis. */
export async function* redisSection({ bundles }: Workbench): AsyncGenerator<Section> {
  const title = 'Redis driver and ioredis with the same commands, 64 concurrent, pipelined'
  if (redisMissing !== undefined) {
    yield { title, notes: [], rows: [[redisMissing]] }
    return
  }
  const figures = await runInProgram<RedisFigures>(await bundles.bundle('programs/redis.ts'), 0)
  const of = (costs: readonly Cost[], figure: keyof Cost): number => median(costs.map((cost) => cost[figure]))
  const ratio = (raw: readonly Cost[], driver: readonly Cost[], figure: keyof Cost): string =>
    median(raw.map((cost, index) => cost[figure] / (driver[index]?.[figure] ?? Number.NaN))).toFixed(2)
  yield {
    title,
    notes: [
      'Microseconds per operation. The process runs on one core, redis-server on the other. The target ratio is 0.8.',
    ],
    rows: [
      ['operation', 'ioredis', 'driver', 'ioredis CPU', 'driver CPU', 'ratio', 'by CPU'],
      ...Object.entries(figures).map(([name, { raw, driver }]) => [
        name,
        of(raw, 'elapsed').toFixed(1),
        of(driver, 'elapsed').toFixed(1),
        of(raw, 'cpu').toFixed(1),
        of(driver, 'cpu').toFixed(1),
        ratio(raw, driver, 'elapsed'),
        ratio(raw, driver, 'cpu'),
      ]),
    ],
  }
}
