import { plainText, type Section } from '../report/section.ts'
import type { OpenStore, StoreKind } from './open-stores.ts'
import { newKey, newRecord } from './records.ts'

/** Concurrent operations. */
const concurrency = 64

/** Seconds per figure. */
const duration = 3

/** Per operation. */
interface Cost {
  readonly count: number
  /** Microseconds. */
  readonly elapsed: number
  /** CPU microseconds of this process and of the database. */
  readonly cpu: number
}

async function costOf(store: OpenStore, operate: () => unknown): Promise<Cost> {
  const ownCpu = process.cpuUsage()
  const storeCpu = store.cpu()
  const start = performance.now()
  let count = 0
  async function client(): Promise<void> {
    for (; performance.now() - start < duration * 1000; count += 1) await operate()
  }
  await Promise.all(Array.from({ length: concurrency }, client))
  const elapsed = (performance.now() - start) * 1000
  const { user, system } = process.cpuUsage(ownCpu)
  return { count, elapsed: elapsed / count, cpu: (user + system + (store.cpu() - storeCpu) * 1e6) / count }
}

async function rowOf({ name, open }: StoreKind): Promise<readonly string[]> {
  const store = await open()
  try {
    const { driver } = store
    const keys: string[] = []
    const write = (): unknown => {
      const key = newKey()
      keys.push(key)
      return driver.setItem(key, newRecord(), { ttl: 86_400 })
    }
    // Also creates what exists once.
    await costOf(store, write)
    const [bytes, stored] = [await store.bytes(), keys.length]
    const written = await costOf(store, write)
    const bytesEach = ((await store.bytes()) - bytes) / (keys.length - stored)
    const read = await costOf(store, () => driver.getItem(keys[Math.floor(Math.random() * keys.length)] ?? ''))
    const costs = [read.elapsed, written.elapsed, read.cpu, written.cpu].map((cost) => cost.toFixed(1))
    return [name, ...costs, bytesEach.toFixed(0)]
  } finally {
    await store.close()
  }
}

/** Compares all stores by the same operations. */
export async function comparison(kinds: readonly StoreKind[]): Promise<string> {
  const rows: (readonly string[])[] = []
  for (const kind of kinds) rows.push(await rowOf(kind))
  const section: Section = {
    title: `All stores, ${concurrency} concurrent operations`,
    notes: [
      'Microseconds per read and per write of a token, then the CPU seconds of a million of each (this process with the database), and the bytes of a token.',
      'A write of files, SQLite and PostgreSQL is on the disk when it ends. Redis writes its log every second. Bytes are those of the heap, the files, the table with its indexes, and the memory of Redis.',
    ],
    rows: [['store', 'read us', 'write us', 'CPU s per M reads', 'CPU s per M writes', 'bytes'], ...rows],
  }
  return plainText(section)
}
