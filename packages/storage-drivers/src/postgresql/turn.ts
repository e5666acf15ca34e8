import type { Executor } from './executor.ts'
import type { Query } from './job.ts'
import { keyArray, numberArray } from './parameters.ts'
import type { Row } from './postgresql-connection.ts'
import type { Statements } from './postgresql-statements.ts'

/** Operations that share a statement with others of their turn of the event loop. Keys are hashes. */
export interface TurnOperations {
  /** Returns the values of the items by their keys, without those that are absent. */
  read(keys: readonly string[]): Promise<ReadonlyMap<string, string>>
  /** Increments a counter. @param lifetime seconds after which a new one expires */
  increment(key: string, lifetime: number): Promise<number>
}

interface Counter {
  amount: number
  readonly lifetime: number
}

/** The operations of one statement. */
interface Batch {
  readonly keys: Set<string>
  readonly counters: Map<string, Counter>
  /** `read`: the turn has ended without an increment. `closed`: the statement was sent, or failed. */
  state: 'open' | 'read' | 'closed'
  readonly outcome: Promise<Outcome>
}

interface Outcome {
  readonly values: ReadonlyMap<string, string>
  readonly counts: ReadonlyMap<string, string>
}

/** Maximum number of keys in one statement. */
const maxBatch = 500

const mapOf = (rows: readonly Row[]): ReadonlyMap<string, string> =>
  new Map(rows.map(([key, value]) => [`\\x${key}`, value as string]))

/**
 * Performs the reads and increments of one turn of the event loop with one statement, because a statement costs both
 * processes several times as much as a key. While all connections are busy, the statement takes the operations of later
 * turns, too.
 */
export function turnOperations(executor: Executor, statements: Statements): TurnOperations {
  let current: Batch | undefined

  function queryOf({ keys, counters }: Batch): Query {
    if (counters.size === 0) return { statement: statements.read, values: [keyArray([...keys])] }
    const increments = [...counters.values()]
    return {
      statement: statements.count,
      values: [
        keyArray([...counters.keys()]),
        numberArray(increments.map(({ amount }) => amount)),
        numberArray(increments.map(({ lifetime }) => lifetime)),
        keyArray([...keys]),
      ],
    }
  }

  async function perform(batch: Batch): Promise<Outcome> {
    const begin = (): Query => {
      batch.state = 'closed'
      return queryOf(batch)
    }
    if (batch.counters.size === 0) {
      batch.state = 'read'
      return { values: mapOf((await executor.read(begin)).rows), counts: new Map() }
    }
    const { rows } = await executor.write(begin)
    const partOf = (isCounter: string) => mapOf(rows.filter(([kind]) => kind === isCounter).map(([, ...row]) => row))
    return { values: partOf('f'), counts: partOf('t') }
  }

  function batchFor(size: number, isIncrement: boolean): Batch {
    const takes = current?.state === 'open' || (current?.state === 'read' && !isIncrement)
    if (current !== undefined && takes && current.keys.size + current.counters.size + size <= maxBatch) return current
    const batch: Batch = {
      keys: new Set(),
      counters: new Map(),
      state: 'open',
      outcome: new Promise((resolve) => setImmediate(resolve))
        .then(() => perform(batch))
        .finally(() => {
          // A batch that found no connection was never sent.
          batch.state = 'closed'
        }),
    }
    current = batch
    return batch
  }

  async function readPart(keys: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const batch = batchFor(keys.length, false)
    for (const key of keys) batch.keys.add(key)
    return (await batch.outcome).values
  }

  return {
    async read(keys) {
      if (keys.length <= maxBatch) return readPart(keys)
      const parts = Array.from({ length: Math.ceil(keys.length / maxBatch) }, (_, index) =>
        readPart(keys.slice(index * maxBatch, (index + 1) * maxBatch)),
      )
      return new Map((await Promise.all(parts)).flatMap((part) => [...part]))
    },
    async increment(key, lifetime) {
      const batch = batchFor(1, true)
      const counter = batch.counters.get(key) ?? { amount: 0, lifetime }
      batch.counters.set(key, counter)
      counter.amount += 1
      const place = counter.amount
      const count = Number((await batch.outcome).counts.get(key))
      if (!Number.isSafeInteger(count)) throw new TypeError('The stored item of this key is not a counter')
      return count - counter.amount + place
    },
  }
}
