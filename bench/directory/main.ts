// Measures token requests and lists with few and with many clients and users in one PostgreSQL.
// `npm run bench:directory -- [--clients 100000] [--users 1000000] [--rounds 10] [--requests 2000] [--concurrent 16]`. It
// starts its own server, on disk, and removes it at the end.
import { parseArgs } from 'node:util'
import { type PostgresqlServer, startPostgresql } from '../../test/support/postgresql-server.ts'
import { fill, idOf } from './fill.ts'
import { clientValue, nameValue, openService, type Service, userValue } from './service.ts'

const { values } = parseArgs({
  options: {
    clients: { type: 'string', default: '100000' },
    users: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '10' },
    requests: { type: 'string', default: '2000' },
    concurrent: { type: 'string', default: '16' },
  },
})
const [clients, users, rounds] = [Number(values.clients), Number(values.users), Number(values.rounds)]
const [requests, concurrent] = [Number(values.requests), Number(values.concurrent)]

const print = (line: string): void => {
  process.stdout.write(`${line}\n`)
}
const sorted = (figures: readonly number[]): readonly number[] => [...figures].sort((first, second) => first - second)
const median = (figures: readonly number[]): number => sorted(figures)[figures.length >> 1] ?? Number.NaN
const heap = (): number => {
  globalThis.gc?.()
  return process.memoryUsage().heapUsed / 1e6
}

/** Calls a function for each value, several at a time. Returns microseconds per call. */
async function measure<T>(values: readonly T[], call: (value: T) => Promise<unknown>): Promise<number> {
  const left = [...values]
  async function lane(): Promise<void> {
    for (let next = left.pop(); next !== undefined; next = left.pop()) await call(next)
  }
  const start = performance.now()
  await Promise.all(Array.from({ length: concurrent }, lane))
  return ((performance.now() - start) * 1000) / values.length
}

/** Ids for the requests of one figure, at random among the first `count`. */
const idsOf = (prefix: string, count: number): readonly string[] =>
  Array.from({ length: requests }, () => idOf(prefix, Math.floor(Math.random() * count)))

const measureTokens = (service: Service, count: number): Promise<number> => measure(idsOf('c', count), service.token)

async function measureCodes(service: Service, count: number): Promise<number> {
  const codes: string[] = []
  await measure(idsOf('u', count), async (sub) => codes.push(await service.code(sub)))
  return measure(codes, service.redeem)
}

type Loads = Readonly<Record<string, () => Promise<number>>>

/** Compares each load with the first one in the same round. */
async function compare(title: string, loads: Loads): Promise<void> {
  const names = Object.keys(loads)
  const figures: Readonly<Record<string, number[]>> = Object.fromEntries(names.map((name) => [name, []]))
  for (const load of Object.values(loads)) await load()
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, load] of Object.entries(loads)) figures[name]?.push(await load())
  }
  print(`\n| ${title}, ${concurrent} concurrent | µs | to ten |\n| --- | ---: | ---: |`)
  const first = figures[names[0] ?? ''] ?? []
  for (const [name, measured] of Object.entries(figures)) {
    const ratio = median(measured.map((figure, round) => figure / (first[round] ?? Number.NaN)))
    print(`| ${name} | ${median(measured).toFixed(0)} | ${ratio.toFixed(2)} |`)
  }
}

/** Prints the milliseconds of pages. */
async function pages(what: string, read: (number: number) => Promise<unknown>, count: number): Promise<void> {
  const times: number[] = []
  for (let page = 0; page < 50; page += 1) {
    const start = performance.now()
    await read(Math.floor(Math.random() * count))
    times.push(performance.now() - start)
  }
  print(`| ${what} | ${median(times).toFixed(1)} | ${(sorted(times).at(-1) ?? Number.NaN).toFixed(1)} |`)
}

async function measurePages({ entries, users: manager }: Service): Promise<void> {
  print('\n| a page of 100 | ms | longest of 50 |\n| --- | ---: | ---: |')
  const list = (kind: 'client' | 'user', prefix: string) => (number: number) =>
    entries.list(kind, { after: idOf(prefix, number), limit: 100 })
  await pages(`of ${clients} clients`, list('client', 'c'), clients)
  await pages(`of ${users} users`, list('user', 'u'), users)
  const search = (number: number) => manager.search({ name: `NAME-${idOf('u', number).slice(0, -2)}`, limit: 100 })
  await pages(`of ${users} users, by the start of their names`, search, users)
}

async function fillBoth(server: PostgresqlServer, { table, entries }: Service, counts: readonly [number, number]) {
  const sub = idOf('u', 0)
  const start = performance.now()
  await fill(server, table, entries, { kind: 'client', id: 'c', value: clientValue(idOf('c', 0)) }, counts[0])
  await fill(server, table, entries, { kind: 'user', id: 'u', value: userValue(sub) }, counts[1])
  await fill(server, table, entries, { kind: 'user-name', id: 'name-u', value: nameValue(sub), own: sub }, counts[1])
  await server.query(`VACUUM ANALYZE ${table}`)
  print(`${counts[0]} clients and ${counts[1]} users in ${((performance.now() - start) / 1000).toFixed(0)} s`)
}

const server = await startPostgresql({ settings: ['shared_buffers=512MB'] })
try {
  const [few, many] = [await openService(server, 'few'), await openService(server, 'many')]
  await fillBoth(server, few, [10, 10])
  await fillBoth(server, many, [clients, users])
  const before = heap()
  await compare('a token by client credentials', {
    'ten clients': () => measureTokens(few, 10),
    [`${clients} clients, ten of them used`]: () => measureTokens(many, 10),
    [`${clients} clients, all used at random`]: () => measureTokens(many, clients),
  })
  await compare('a token for a code', {
    'ten users': () => measureCodes(few, 10),
    [`${users} users, ten of them used`]: () => measureCodes(many, 10),
    [`${users} users, all used at random`]: () => measureCodes(many, users),
  })
  print(`\nheap before and afterwards: ${before.toFixed(0)} and ${heap().toFixed(0)} MB`)
  await measurePages(many)
  await Promise.all([few.close(), many.close()])
} finally {
  await server.stop()
}
process.exit()
