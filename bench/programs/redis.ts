// Measures the Redis driver and plain ioredis with the same commands, alternately. Prints JSON.
import { spawnSync } from 'node:child_process'
import { redisDriver } from '@grantry/storage-drivers/redis'
import { Redis } from 'ioredis'
import { startRedis } from '../../test/support/redis-server.ts'
import type { Cost } from '../sections/redis-section.ts'
import { newKey, newRecord } from '../stores/records.ts'

const concurrency = 64
const perSlice = 12_800
const rounds = 5
const lifetime = { ttl: 3600 }
const milliseconds = 3_600_000

type Operate = (index: number) => Promise<unknown>

async function slice(operate: Operate): Promise<Cost> {
  const used = process.cpuUsage()
  const begin = performance.now()
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < perSlice) await operate(next++)
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
  const { user, system } = process.cpuUsage(used)
  return { elapsed: ((performance.now() - begin) * 1000) / perSlice, cpu: (user + system) / perSlice }
}

const server = await startRedis()
// The server inherited the core of this process.
spawnSync('taskset', ['-cp', '1', String(server.pid)])
const raw = new Redis(server.url, { enableAutoPipelining: true })
const driver = redisDriver({ url: server.url })
try {
  await driver.open()
  const record = newRecord()
  const fresh = (): readonly string[] => Array.from({ length: perSlice }, newKey)
  const live = fresh()
  for (const key of live) await driver.setItem(key, record, lifetime)
  // The prefix that the driver uses.
  const prefix = (await driver.getInstance().keys('*'))[0]?.replace(/access.*$/u, '') ?? ''

  // Each slice uses new keys, so that inserts find no item.
  let keys = live
  const at = (index: number): string => keys[index] ?? ''
  const pairs = {
    get: [(index) => raw.get(prefix + at(index)), (index) => driver.getItem(at(index))],
    set: [
      (index) => raw.set(prefix + at(index), record, 'PX', milliseconds),
      (index) => driver.setItem(at(index), record, lifetime),
    ],
    insert: [
      (index) => raw.set(prefix + at(index), record, 'PX', milliseconds, 'NX'),
      (index) => driver.insertItem(at(index), record, lifetime),
    ],
    remove: [(index) => raw.unlink(prefix + at(index)), (index) => driver.removeItem(at(index))],
  } satisfies Record<string, readonly [raw: Operate, driver: Operate]>

  const figures: Record<string, { raw: Cost[]; driver: Cost[] }> = {}
  for (const [name, [asRaw, asDriver]] of Object.entries(pairs)) {
    const costs: { raw: Cost[]; driver: Cost[] } = { raw: [], driver: [] }
    for (let round = 0; round <= rounds; round += 1) {
      for (const [into, operate] of [
        [costs.raw, asRaw],
        [costs.driver, asDriver],
      ] as const) {
        keys = name === 'get' || name === 'remove' ? live : fresh()
        const cost = await slice(operate)
        // The first round is a warm-up.
        if (round > 0) into.push(cost)
      }
    }
    figures[name] = costs
  }
  process.stdout.write(JSON.stringify(figures))
} finally {
  raw.disconnect()
  await driver.dispose()
  await server.stop()
}
