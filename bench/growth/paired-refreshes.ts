import { setTimeout } from 'node:timers/promises'
import type { PostgresqlServer } from '../../test/support/postgresql-server.ts'
import { fill, tokenOf } from './fill.ts'
import type { BenchTable } from './item-table.ts'
import { type LoadFigures, loadWithRefreshes, rotatedTokens, type Tokens } from './refresh-load.ts'
import type { Service } from './service.ts'
import type { Sweepers } from './sweepers.ts'

export interface PairedOptions {
  readonly live: number
  readonly rounds: number
  /** Seconds of requests to a table in a round. */
  readonly seconds: number
}

export interface Subject {
  readonly table: BenchTable
  readonly service: Service
}

/** Figures of one round. */
export interface PairedRound {
  readonly empty: LoadFigures
  /** With expired rows that no process removes. */
  readonly large: LoadFigures
  /** While the sweepers remove rows from the large table. */
  readonly largeSwept: LoadFigures
  readonly emptyWhileSwept: LoadFigures
  readonly removed: number
}

/** Seconds after which a sweeper that has started removes rows. */
const untilFirstStep = 1.3

/** Refresh tokens of a table of `live` rows, each once, without locality. */
function filledTokens(live: number): Tokens {
  const count = Math.floor(live / 3)
  let taken = 0
  return {
    next() {
      taken += 1
      if (taken > count) throw new Error('The table has no more refresh tokens; raise --live')
      return tokenOf(3 * ((taken * 611_953) % count))
    },
    add() {},
  }
}

/** Compares refreshes in a large table, in which each redeems another old token, with those in an empty one, in rounds. */
export async function comparePairs(
  server: PostgresqlServer,
  empty: Subject,
  large: Subject,
  sweepers: Sweepers,
  { live, rounds, seconds }: PairedOptions,
  report: (round: PairedRound) => void,
): Promise<void> {
  const [old, rotated] = [filledTokens(live), await rotatedTokens(empty.service)]
  const loadLarge = (): Promise<LoadFigures> => loadWithRefreshes(large.service, old, seconds)
  const loadEmpty = (): Promise<LoadFigures> => loadWithRefreshes(empty.service, rotated, seconds)
  // Compiles the code, and prepares the statements of all connections.
  await loadEmpty()
  await loadLarge()
  let before = 0
  for (let round = 0; round < rounds; round += 1) {
    const quiet = { empty: await loadEmpty(), large: await loadLarge() }
    await sweepers.order('sweep')
    await setTimeout(untilFirstStep * 1000)
    const swept = { largeSwept: await loadLarge(), emptyWhileSwept: await loadEmpty() }
    const { removed } = await sweepers.order('rest')
    report({ ...quiet, ...swept, removed: removed - before })
    // Each round begins with as many expired rows.
    await fill(server, large.table, large.service, { count: removed - before, ends: expiredAt })
    before = removed
  }
}

/** The end of rows that have expired within an hour. */
export const expiredAt = "now() - random() * interval '1 hour'"
