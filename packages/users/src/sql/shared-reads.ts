import { codeOf, textArray } from '@grantry/storage-drivers/clients'
import type { RowStatement, TextRow } from './sql-client.ts'

/** A statement with its parameters. */
export interface Query {
  readonly text: string
  readonly values: readonly string[]
}

type RowsBySub = ReadonlyMap<string, readonly TextRow[]>

/** The reads of one statement. */
interface Batch {
  readonly subs: Set<string>
  /** Whether the statement was sent, or failed. Later requests need a new statement. */
  isClosed: boolean
  readonly rows: Promise<RowsBySub>
}

/** Maximum number of users in one statement. */
const maxBatch = 100

/**
 * Returns `undefined` if the value does not have the type of the column, such as a text for a number or a UUID: no row
 * can have it. Throws any other error.
 */
export function unlessImpossible(error: unknown): undefined {
  if (codeOf(error)?.startsWith('22')) return undefined
  throw error
}

/** Returns the rows by their `sub`; `undefined` if a row has another `sub`, or a `sub` several rows. */
function grouped(subs: ReadonlySet<string>, rows: readonly TextRow[]): RowsBySub | undefined {
  if (rows.length > subs.size) return undefined
  const groups = new Map<string, TextRow[]>()
  for (const row of rows) {
    const sub = row[0] ?? ''
    if (!subs.has(sub)) return undefined
    groups.set(sub, [...(groups.get(sub) ?? []), row])
  }
  return groups
}

/**
 * Reads the users of one turn of the event loop with one statement, like the storage driver. While all connections are
 * busy, the statement takes the users of later turns, too. No read begins before its request.
 *
 * @param read calls `begin` when a connection is free
 */
export function createSharedReads(read: (begin: () => Query) => Promise<readonly TextRow[]>) {
  const current = new Map<RowStatement, Batch>()

  const readOne = async ({ oneRow: text }: RowStatement, sub: string) =>
    (await read(() => ({ text, values: [sub] })).catch(unlessImpossible)) ?? []

  async function readAll(statement: RowStatement, batch: Batch): Promise<RowsBySub> {
    const { subs } = batch
    const begin = (): Query => {
      batch.isClosed = true
      if (subs.size === 1) return { text: statement.oneRow, values: [...subs] }
      return { text: statement.manyRows ?? '', values: [textArray([...subs]), `${subs.size + 1}`] }
    }
    const rows = await read(begin).catch(unlessImpossible)
    const [first = ''] = subs
    const groups = subs.size === 1 ? new Map([[first, rows ?? []]]) : rows && grouped(subs, rows)
    if (groups !== undefined) return groups
    // One user is the cause, and others must not be refused because of it.
    return new Map(await Promise.all([...subs].map(async (sub) => [sub, await readOne(statement, sub)] as const)))
  }

  function open(statement: RowStatement): Batch {
    const batch: Batch = {
      subs: new Set(),
      isClosed: false,
      rows: new Promise((resolve) => setImmediate(resolve))
        .then(() => readAll(statement, batch))
        .finally(() => {
          // A batch that found no connection was never sent.
          batch.isClosed = true
          if (current.get(statement) === batch) current.delete(statement)
        }),
    }
    current.set(statement, batch)
    return batch
  }

  return async (statement: RowStatement, sub: string): Promise<readonly TextRow[]> => {
    const known = current.get(statement)
    const batch = known === undefined || known.isClosed || known.subs.size >= maxBatch ? open(statement) : known
    batch.subs.add(sub)
    return (await batch.rows).get(sub) ?? []
  }
}
