import { isRolledBack, isUnknown } from './errors.ts'
import type { Executor } from './executor.ts'
import { keyArray } from './parameters.ts'
import type { Statements } from './postgresql-statements.ts'
import { itemParameters, type StoredItem } from './stored-item.ts'

/** Items that are stored together or not at all. */
export interface Write {
  /** If it exists, nothing is stored. */
  readonly create?: StoredItem
  readonly put: readonly StoredItem[]
}

/** The writes of one statement. */
interface Batch {
  readonly writes: Write[]
  readonly keys: Set<string>
  /** When its time limit began. */
  readonly since: number
  /** The statement was sent, or failed. */
  isClosed: boolean
  /** The keys of the items that were created. */
  readonly created: Promise<ReadonlySet<string>>
}

/** Maximum number of items in one statement. */
const maxBatch = 250

/** The empty key, which no item has. */
const noKey = '\\x'

const itemsOf = ({ create, put }: Write): readonly StoredItem[] => (create === undefined ? put : [create, ...put])

function parametersOf(writes: readonly Write[]): readonly string[] {
  const creates = writes.flatMap(({ create }) => create ?? [])
  const puts = writes.flatMap(({ put }) => put)
  const conditions = writes.flatMap(({ create, put }) => put.map(() => create?.key ?? noKey))
  return [...itemParameters(creates), ...itemParameters(puts), keyArray(conditions)]
}

/**
 * Performs the writes of one turn of the event loop with one statement, which waits once for the disk. While all
 * connections are busy, the statement takes the writes of later turns, too. Returns whether the item of `create` was
 * created.
 *
 * @param timeout milliseconds after which a write fails
 */
export function createWrites(
  executor: Executor,
  { write: statement }: Pick<Statements, 'write'>,
  timeout: number,
): (write: Write) => Promise<boolean> {
  let current: Batch | undefined

  async function perform(
    writes: readonly Write[],
    since: number,
    onSend = (): void => {},
  ): Promise<ReadonlySet<string>> {
    const { rows } = await executor.write(() => {
      onSend()
      return { statement, values: parametersOf(writes) }
    }, since)
    return new Set(rows.map(([key]) => `\\x${key}`))
  }

  function open(): Batch {
    const since = performance.now()
    const batch: Batch = {
      writes: [],
      keys: new Set(),
      since,
      isClosed: false,
      created: new Promise((resolve) => setImmediate(resolve))
        .then(() =>
          perform(batch.writes, since, () => {
            batch.isClosed = true
          }),
        )
        .finally(() => {
          // A batch that found no connection was never sent.
          batch.isClosed = true
        }),
    }
    return batch
  }

  /** A statement can write each key only once. */
  function takes(batch: Batch, items: readonly StoredItem[]): boolean {
    return (
      !batch.isClosed && batch.keys.size + items.length <= maxBatch && !items.some(({ key }) => batch.keys.has(key))
    )
  }

  return async (write) => {
    const items = itemsOf(write)
    const batch = current !== undefined && takes(current, items) ? current : open()
    current = batch
    batch.writes.push(write)
    for (const { key } of items) batch.keys.add(key)
    let created: ReadonlySet<string>
    try {
      created = await batch.created
    } catch (error) {
      const isOver = performance.now() >= batch.since + timeout
      if (batch.writes.length === 1 || isUnknown(error) || isRolledBack(error) || isOver) throw error
      // Nothing was stored, perhaps because of another write of the batch. The time limit stays the same, because the
      // caller gives up after it.
      created = await perform([write], batch.since)
    }
    return write.create === undefined || created.has(write.create.key)
  }
}
