import { setTimeout } from 'node:timers/promises'
import type { PostgresqlServer } from '../../test/support/postgresql-server.ts'
import { fill } from './fill.ts'
import { type BenchTable, bytesOf, sizeOf } from './item-table.ts'
import { loadWithRefreshes, rotatedTokens } from './refresh-load.ts'
import type { Service } from './service.ts'
import type { Sweepers } from './sweepers.ts'

export interface TurnoverOptions {
  readonly live: number
  /** Seconds in which every row is replaced once. */
  readonly lifetime: number
  /** Seconds for which rows are replaced. */
  readonly seconds: number
  /** Seconds between two figures. */
  readonly interval: number
}

/** Figures of one moment. */
export interface TurnoverFigures {
  readonly second: number
  readonly inserted: number
  /** Expired rows that exist. */
  readonly backlog: number
  /** Seconds since the end of the oldest row that the last steps have removed. */
  readonly age: number
  readonly bytes: number
  /** Bytes per live row, divided by those after the filling. */
  readonly growth: number
  readonly tableGrowth: number
  readonly indexGrowth: number
  readonly dead: number
  readonly vacuums: number
  readonly p50: number
  readonly p99: number
}

/** Seconds of requests for one figure. */
const sample = 2

/** Rows that one call inserts. */
const batch = 1000

/**
 * Fills the table with rows that expire evenly within the given lifetime, then inserts as many rows as expire, while the
 * sweepers remove them.
 */
export async function turnOver(
  server: PostgresqlServer,
  table: BenchTable,
  service: Service,
  sweepers: Sweepers,
  { live, lifetime, seconds, interval }: TurnoverOptions,
  report: (figures: TurnoverFigures) => void,
  startAt: number,
): Promise<void> {
  const start = `to_timestamp(${startAt / 1000})`
  await fill(server, table, service, { count: live, ends: `${start} + random() * ${lifetime} * interval '1 second'` })
  await server.query(`ANALYZE ${table.name}`)
  const fresh = await sizeOf(server, table)
  const tokens = await rotatedTokens(service)
  const elapsed = (): number => (Date.now() - startAt) / 1000
  if (elapsed() > 0) throw new Error(`Filling the table took ${elapsed().toFixed(0)} s too long; raise --fill-time`)
  await setTimeout(-elapsed() * 1000)
  await sweepers.order('sweep')
  let inserted = 0

  async function insert(): Promise<void> {
    while (elapsed() < seconds) {
      const due = (elapsed() / lifetime) * live - inserted
      if (due < batch) await setTimeout(20)
      else {
        inserted += batch
        await fill(server, table, service, { count: batch, ends: `now() + ${lifetime} * interval '1 second'` })
      }
    }
  }

  async function figures(): Promise<TurnoverFigures> {
    const { p50, p99 } = await loadWithRefreshes(service, tokens, sample)
    const [size, { removed, age }] = await Promise.all([sizeOf(server, table), sweepers.order('state')])
    const second = elapsed()
    const expired = (second / lifetime) * live
    const now = live + inserted - expired
    const growth = (after: number, before: number): number => after / now / (before / live)
    return {
      second,
      inserted,
      backlog: expired - removed,
      age,
      bytes: bytesOf(size),
      growth: growth(bytesOf(size), bytesOf(fresh)),
      tableGrowth: growth(size.table, fresh.table),
      indexGrowth: growth(size.keyIndex + size.endsIndex, fresh.keyIndex + fresh.endsIndex),
      dead: size.dead,
      vacuums: size.vacuums,
      p50,
      p99,
    }
  }

  async function observe(): Promise<void> {
    for (let next = interval; next <= seconds; next += interval) {
      await setTimeout(Math.max(0, (next - sample - elapsed()) * 1000))
      report(await figures())
    }
  }

  await Promise.all([insert(), insert(), observe()])
  await sweepers.order('rest')
}
