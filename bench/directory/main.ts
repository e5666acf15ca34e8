// Measures token requests and lists with few and with many clients in one PostgreSQL.
// `npm run bench:directory -- [--clients 100000] [--rounds 10] [--requests 2000] [--concurrent 16]`. It starts its own
// server, on disk, and removes it at the end.
import { parseArgs } from 'node:util'
import { startPostgresql } from '../../test/support/postgresql-server.ts'
import { fill, idOf } from './fill.ts'
import { clientValue, openService, type Service } from './service.ts'

const { values } = parseArgs({
  options: {
    clients: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '10' },
    requests: { type: 'string', default: '2000' },
    concurrent: { type: 'string', default: '16' },
  },
})
const [clients, rounds] = [Number(values.clients), Number(values.rounds)]
const [requests, concurrent] = [Number(values.requests), Number(values.concurrent)]

const print = (line: string): void => {
  process.stdout.write(`${line}\n`)
}
const sorted = (figures: readonly number[]): readonly number[] => [...figures].sort((one, other) => one - other)
const median = (figures: readonly number[]): number => sorted(figures)[figures.length >> 1] ?? Number.NaN
const heap = (): number => {
  globalThis.gc?.()
  return process.memoryUsage().heapUsed / 1e6
}

/** Returns microseconds per request. */
async function measure(service: Service, next: () => string): Promise<number> {
  let left = requests
  async function lane(): Promise<void> {
    while (left > 0) {
      left -= 1
      await service.token(next())
    }
  }
  const start = performance.now()
  await Promise.all(Array.from({ length: concurrent }, lane))
  return ((performance.now() - start) * 1000) / requests
}

const anyOf = (count: number) => (): string => idOf('c', Math.floor(Math.random() * count))

/** Compares the same load in the same round. */
async function compareTokens(few: Service, many: Service): Promise<void> {
  const loads = {
    'ten clients': () => measure(few, anyOf(10)),
    [`${clients} clients, ten of them used`]: () => measure(many, anyOf(10)),
    [`${clients} clients, all used at random`]: () => measure(many, anyOf(clients)),
  }
  const figures = Object.fromEntries(Object.keys(loads).map((name) => [name, [] as number[]]))
  for (const load of Object.values(loads)) await load()
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, load] of Object.entries(loads)) figures[name]?.push(await load())
  }
  const base = figures['ten clients'] ?? []
  for (const [name, own] of Object.entries(figures)) {
    const ratio = median(own.map((figure, round) => figure / (base[round] ?? Number.NaN)))
    print(`| ${name} | ${median(own).toFixed(0)} | ${ratio.toFixed(2)} |`)
  }
}

/** Prints the milliseconds of a page of 100 clients. */
async function measureLists({ entries }: Service, count: number): Promise<void> {
  const starts = Array.from({ length: 50 }, () => idOf('c', Math.floor(Math.random() * count)))
  const times: number[] = []
  for (const after of starts) {
    const start = performance.now()
    await entries.list('client', { after, limit: 100 })
    times.push(performance.now() - start)
  }
  print(`| ${count} | ${median(times).toFixed(1)} | ${(sorted(times).at(-1) ?? Number.NaN).toFixed(1)} |`)
}

const server = await startPostgresql({ settings: ['shared_buffers=512MB'] })
try {
  const [few, many] = [await openService(server, 'few'), await openService(server, 'many')]
  for (const [service, count] of [
    [few, 10],
    [many, clients],
  ] as const) {
    await fill(
      server,
      service.table,
      service.entries,
      { kind: 'client', id: 'c', value: clientValue(idOf('c', 0)) },
      count,
    )
    await server.query(`VACUUM ANALYZE ${service.table}`)
  }
  const before = heap()
  print(`\n| a token by client credentials, ${concurrent} concurrent | µs | to ten clients |\n| --- | ---: | ---: |`)
  await compareTokens(few, many)
  print(
    `\nheap before and afterwards, with at most 10,000 remembered clients: ${before.toFixed(0)} and ${heap().toFixed(0)} MB`,
  )
  print('\n| clients | a page of 100, ms | longest of 50 |\n| ---: | ---: | ---: |')
  await measureLists(few, 10)
  await measureLists(many, clients)
  await Promise.all([few.close(), many.close()])
} finally {
  await server.stop()
}
process.exit()
