// Measures lookup times for growing numbers of tokens, memory per token, and pauses caused by removing expired items.
// `npm run bench:stores -- [--max 1000000] [--stores memory,filesystem,sqlite,postgresql,redis] [--compare]`. Ends with a
// table of all stores; --compare prints only that. Uses its own servers and directories, and removes them at the end.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { AtomicDriver } from '@grantry/core'
import { filesystemDriver } from '@grantry/storage-drivers/filesystem'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { postgresqlDriver } from '@grantry/storage-drivers/postgresql'
import { redisDriver } from '@grantry/storage-drivers/redis'
import { sqliteDriver } from '@grantry/storage-drivers/sqlite'
import { postgresqlMissing } from '../../test/support/postgresql-process.ts'
import { startPostgresql } from '../../test/support/postgresql-server.ts'
import { redisMissing, startRedis } from '../../test/support/redis-server.ts'
import { comparison } from './compare.ts'
import { measureDurable } from './durable.ts'
import { type Figures, fill, measure } from './measure.ts'
import { storeKinds } from './open-stores.ts'
import { newKey, newRecord } from './records.ts'
import { measureSweep } from './sweep.ts'

const { values } = parseArgs({
  options: {
    max: { type: 'string', default: '1000000' },
    stores: { type: 'string', default: storeKinds.map(({ name }) => name).join(',') },
    compare: { type: 'boolean', default: false },
  },
})
const sizes = [1e3, 1e4, 1e5, 1e6].filter((size) => size <= Number(values.max))

const print = (line: string): void => {
  process.stdout.write(`${line}\n`)
}
const us = (figure: number): string => figure.toFixed(2).padStart(9)

async function lookups(name: string, driver: AtomicDriver, concurrency: number, count: number): Promise<void> {
  print(`\n${name}, microseconds per operation${concurrency === 1 ? '' : `, ${concurrency} concurrent`}`)
  print('   live      get    absent       set    insert')
  const known: string[] = []
  const rows: Figures[] = []
  for (const [index, live] of sizes.entries()) {
    await fill(driver, known, sizes[index - 1] ?? 0, live, Math.max(concurrency, 16))
    const row = await measure(driver, known, live, concurrency, count)
    rows.push(row)
    print(`${String(live).padStart(7)}${us(row.get)} ${us(row.absent)} ${us(row.set)} ${us(row.insert)}`)
  }
  const [first, last] = [rows[0], rows.at(-1)]
  if (first !== undefined && last !== undefined && rows.length > 1)
    print(
      `a get takes ${(last.get / first.get).toFixed(2)} times as long with ${last.live} items as with ${first.live}`,
    )
}

async function sweeping(
  name: string,
  driver: AtomicDriver,
  ended: number,
  writesPerItem: number,
  wait: number,
): Promise<void> {
  const figures = await measureSweep(driver, ended, writesPerItem, wait)
  print(`${name}: ${figures.ended} items expired together and were removed by ${figures.writes} writes`)
  print(
    `  longest write ${figures.longestWrite.toFixed(2)} ms (without GC), longest event loop delay ${figures.longestDelay.toFixed(1)} ms, longest GC pause ${figures.longestCollection.toFixed(1)} ms`,
  )
}

/** Prints the heap bytes per token, and the part beyond its key and JSON. */
function memoryPerToken(): void {
  const count = sizes.at(-1) ?? 1000
  const driver = memoryDriver()
  let text = 0
  globalThis.gc?.()
  const before = process.memoryUsage().heapUsed
  for (let index = 0; index < count; index += 1) {
    const [key, record] = [newKey(), newRecord()]
    text += key.length + record.length
    driver.setItem(key, record, { ttl: 86_400 })
  }
  globalThis.gc?.()
  const after = process.memoryUsage().heapUsed
  const [each, textEach] = [(after - before) / count, text / count]
  print(
    `memory: ${count} tokens take ${each.toFixed(0)} bytes each: ${textEach.toFixed(0)} for key and JSON, ${(each - textEach).toFixed(0)} overhead`,
  )
  driver.clear()
}

async function memory(): Promise<void> {
  await lookups('memory', memoryDriver(), 1, 20_000)
  memoryPerToken()
  await sweeping('memory', memoryDriver(), sizes.at(-1) ?? 1000, 0.3, 20)
}

async function filesystem(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'grantry-bench-'))
  try {
    const stored = filesystemDriver({ directory: join(directory, 'flat'), fsync: false })
    await lookups('filesystem without fsync', stored, 1, 2000)
    await stored.dispose?.()
    const synced = filesystemDriver({ directory: join(directory, 'synced') })
    print(
      `with fsync: insert ${us((await measure(synced, [], 0, 1, 200)).insert)}, 64 concurrent ${us((await measure(synced, [], 0, 64, 640)).insert)}`,
    )
    await synced.dispose?.()
    const swept = filesystemDriver({ directory: join(directory, 'swept'), fsync: false })
    await sweeping('filesystem', swept, Math.min(20_000, sizes.at(-1) ?? 1000), 0.5, 10)
    const left = readdirSync(join(directory, 'swept', 'items')).flatMap((fan) =>
      readdirSync(join(directory, 'swept', 'items', fan)),
    )
    print(`  items left in the directory: ${left.length}`)
    await swept.dispose?.()
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/** Prints durable redemptions per second. @param open opens a driver for a measurement */
async function durable(name: string, open: (concurrency: number) => AtomicDriver): Promise<void> {
  for (const concurrency of [1, 16, 64, 256]) {
    const driver = open(concurrency)
    const { perSecond, flushes } = await measureDurable(driver, tmpdir(), concurrency, 4)
    print(
      `${name}: ${perSecond.toFixed(0)} durable redemptions/s with ${concurrency} concurrent; the disk: ${flushes.map((count) => count.toFixed(0)).join(' and ')} flushes/s`,
    )
    await driver.dispose?.()
  }
}

async function postgresql(): Promise<void> {
  if (postgresqlMissing !== undefined) return print(`postgresql: ${postgresqlMissing}`)
  const server = await startPostgresql({ settings: ['shared_buffers=128MB'] })
  try {
    const driver = postgresqlDriver({ url: server.url })
    await driver.open()
    // Each removal waits for the disk.
    await lookups('postgresql', driver, 64, 4000)
    await driver.dispose()
    await durable('postgresql', (concurrency) =>
      postgresqlDriver({ url: server.url, prefix: `durable_${concurrency}` }),
    )
  } finally {
    await server.stop()
  }
}

async function sqlite(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'grantry-bench-'))
  try {
    const stored = sqliteDriver({ file: join(directory, 'stored.db'), synchronous: 'normal' })
    await lookups('sqlite, synchronous normal', stored, 64, 20_000)
    await stored.dispose()
    await durable('sqlite', (concurrency) => sqliteDriver({ file: join(directory, `durable-${concurrency}.db`) }))
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

async function redis(): Promise<void> {
  if (redisMissing !== undefined) return print(`redis: ${redisMissing}`)
  const server = await startRedis()
  try {
    const driver = redisDriver({ url: server.url })
    await driver.open?.()
    await lookups('redis', driver, 64, 20_000)
    await driver.dispose?.()
  } finally {
    await server.stop()
  }
}

const benches: Readonly<Record<string, () => Promise<void>>> = { memory, filesystem, sqlite, postgresql, redis }
const wanted = values.stores.split(',')
if (!values.compare) for (const name of wanted) await benches[name]?.()
const kinds = storeKinds.filter(({ name }) => wanted.includes(name))
for (const { name, missing } of kinds) if (missing !== undefined) print(`${name}: ${missing}`)
print(await comparison(kinds.filter(({ missing }) => missing === undefined)))
