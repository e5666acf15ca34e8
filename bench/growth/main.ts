// Measures the table of the PostgreSQL driver with many rows, and while all of them are replaced.
// `npm run bench:growth -- [--live 200000] [--expired 20000] [--phases refresh,steps,turnover]`. It starts its own server,
// on disk, and removes it at the end. Other options:
// --rounds 5 --seconds 2        rounds of the comparison, and seconds of each figure
// --turnover 30 --interval 10   seconds for which rows are replaced, and between two figures
// --lifetime 30                 seconds in which all rows are replaced once; that of the turnover by default
// --fill-time 20                seconds for filling the table before the turnover begins
// --table 'fillfactor = 100'    storage parameters to set after the migration
// --server 'a = b; c = d'       settings of the server
// --wait                        waits for a line of input before it measures
import { createInterface } from 'node:readline/promises'
import { parseArgs } from 'node:util'
import { type PostgresqlServer, startPostgresql } from '../../test/support/postgresql-server.ts'
import { fill } from './fill.ts'
import { bytesOf, createTable, sizeOf } from './item-table.ts'
import { comparePairs, expiredAt, type PairedRound, type Subject } from './paired-refreshes.ts'
import { openService } from './service.ts'
import { measureSteps, openSnapshot } from './sweep-steps.ts'
import { type Sweepers, startSweepers } from './sweepers.ts'
import { turnOver } from './turnover.ts'

const { values } = parseArgs({
  options: {
    live: { type: 'string', default: '200000' },
    expired: { type: 'string', default: '20000' },
    phases: { type: 'string', default: 'refresh,steps,turnover' },
    processes: { type: 'string', default: '4' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '2' },
    turnover: { type: 'string', default: '30' },
    lifetime: { type: 'string' },
    interval: { type: 'string', default: '10' },
    'fill-time': { type: 'string', default: '20' },
    table: { type: 'string', default: '' },
    server: { type: 'string', default: '' },
    wait: { type: 'boolean', default: false },
  },
})
const [live, expired] = [Number(values.live), Number(values.expired)]

const print = (line: string): void => {
  process.stdout.write(`${line}\n`)
}
const row = (cells: readonly (string | number)[]): void =>
  print(cells.map((cell) => String(cell).padStart(12)).join(''))
const ms = (figure: number): string => figure.toFixed(2)
const mb = (bytes: number): string => `${(bytes / 1e6).toFixed(0)} MB`
const median = (figures: readonly number[]): number =>
  [...figures].sort((first, second) => first - second)[figures.length >> 1] ?? Number.NaN

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]()
async function ready(phase: string): Promise<void> {
  print(`\n${phase}: ready`)
  if (values.wait) await lines.next()
}

async function open(server: PostgresqlServer, prefix: string): Promise<Subject> {
  const table = await createTable(server, prefix, values.table)
  return { table, service: await openService(table.driver) }
}

async function fillLarge(server: PostgresqlServer): Promise<Subject> {
  const large = await open(server, 'large')
  const start = performance.now()
  const later = "now() + interval '1 hour' + random() * interval '30 days'"
  await fill(server, large.table, large.service, { count: live, ends: later })
  await fill(server, large.table, large.service, { count: expired, ends: expiredAt })
  await server.query(`VACUUM ANALYZE ${large.table.name}`)
  const size = await sizeOf(server, large.table)
  print(
    `${live} live and ${expired} expired rows in ${((performance.now() - start) / 1000).toFixed(0)} s: table ${mb(size.table)}, index of keys ${mb(size.keyIndex)}, of ends ${mb(size.endsIndex)}`,
  )
  return large
}

// Filling takes minutes, and each phase leaves the table as it was.
let filled: Promise<Subject> | undefined
const largeOf = (server: PostgresqlServer): Promise<Subject> => {
  filled ??= fillLarge(server)
  return filled
}

/** Prints p50 and p99 of each round, and the ratio of the medians of p99. */
async function refresh(server: PostgresqlServer, sweepersOf: (prefix: string) => Promise<Sweepers>): Promise<void> {
  const [empty, large] = [await open(server, 'small'), await largeOf(server)]
  const sweepers = await sweepersOf('large')
  await ready('refresh')
  print('milliseconds of a refresh, p50/p99, 16 concurrent')
  row(['empty', 'large', 'large swept', 'empty*', 'removed', 'per second'])
  const all: PairedRound[] = []
  const options = { live, rounds: Number(values.rounds), seconds: Number(values.seconds) }
  await comparePairs(server, empty, large, sweepers, options, (round) => {
    all.push(round)
    const { removed, ...figures } = round
    const loads = [figures.empty, figures.large, figures.largeSwept, figures.emptyWhileSwept]
    row([
      ...loads.map(({ p50, p99 }) => `${p50.toFixed(1)}/${p99.toFixed(1)}`),
      removed,
      loads.map(({ perSecond }) => perSecond.toFixed(0)).join(' '),
    ])
  })
  const ratio = (name: 'large' | 'largeSwept', to: 'empty' | 'emptyWhileSwept', figure: 'p50' | 'p99'): string =>
    median(all.map((round) => round[name][figure] / round[to][figure])).toFixed(2)
  print('* while the sweepers remove rows of the large table. Medians of the ratios in a round:')
  for (const figure of ['p50', 'p99'] as const)
    print(
      `${figure}: large to empty ${ratio('large', 'empty', figure)}; with sweepers, to empty ${ratio('largeSwept', 'empty', figure)}, to empty* ${ratio('largeSwept', 'emptyWhileSwept', figure)}`,
    )
}

async function steps(server: PostgresqlServer): Promise<void> {
  const { table, service } = await largeOf(server)
  await ready('steps')
  const measure = async (what: string): Promise<void> => {
    print(`milliseconds of a step of 1,000 rows, for each tenth of the expired rows, ${what}`)
    row(['steps', 'median', 'longest'])
    for (const { steps, median, longest } of await measureSteps(server, table, expired))
      row([steps, ms(median), ms(longest)])
  }
  await measure('one process')
  const refill = (): Promise<void> => fill(server, table, service, { count: expired, ends: expiredAt })
  await refill()
  const close = await openSnapshot(server)
  await measure('while a backup keeps a snapshot')
  await measure('again')
  await close()
  await refill()
}

async function turnover(server: PostgresqlServer, sweepersOf: (prefix: string) => Promise<Sweepers>): Promise<void> {
  const { table, service } = await open(server, 'turned')
  const sweepers = await sweepersOf('turned')
  await ready('turnover')
  const [seconds, interval] = [Number(values.turnover), Number(values.interval)]
  const lifetime = Number(values.lifetime ?? seconds)
  row([
    'second',
    'inserted',
    'backlog',
    'age',
    'size',
    'growth',
    'of table',
    'of indexes',
    'dead',
    'vacuums',
    'p50',
    'p99',
  ])
  const startAt = Date.now() + Number(values['fill-time']) * 1000
  await turnOver(
    server,
    table,
    service,
    sweepers,
    { live, lifetime, seconds, interval },
    (f) => {
      row([
        ...[f.second.toFixed(0), f.inserted, f.backlog.toFixed(0), f.age.toFixed(1), mb(f.bytes)],
        ...[
          f.growth.toFixed(2),
          f.tableGrowth.toFixed(2),
          f.indexGrowth.toFixed(2),
          f.dead,
          f.vacuums,
          ms(f.p50),
          ms(f.p99),
        ],
      ])
    },
    startAt,
  )
  const size = await sizeOf(server, table)
  print(`afterwards: ${mb(bytesOf(size))}, ${size.dead} dead rows, ${size.vacuums} vacuums`)
}

/** Autovacuum looks once a minute. The turnover is that of an hour. */
const naptime = Math.max(1, Math.round((Number(values.turnover) / 3600) * 60))
const usual = [
  'shared_buffers=512MB',
  'max_wal_size=4GB',
  `autovacuum_naptime=${naptime}s`,
  'log_autovacuum_min_duration=0',
]
const settings = [...usual, ...values.server.split(';').filter((each) => each !== '')]
const server = await startPostgresql({ settings: settings.map((each) => each.trim()) })
const running: Sweepers[] = []
try {
  print(`PostgreSQL at ${server.url}`)
  const sweepersOf = async (prefix: string): Promise<Sweepers> => {
    const sweepers = await startSweepers({ url: server.url, prefix }, Number(values.processes))
    running.push(sweepers)
    return sweepers
  }
  const phases: Readonly<Record<string, () => Promise<void>>> = {
    refresh: () => refresh(server, sweepersOf),
    steps: () => steps(server),
    turnover: () => turnover(server, sweepersOf),
  }
  for (const phase of values.phases.split(',')) await phases[phase]?.()
} finally {
  await Promise.all(running.map((sweepers) => sweepers.stop()))
  await server.stop()
}
process.exit()
