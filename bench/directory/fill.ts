import type { EntryKind, EntryStore, Json } from '@grantry/core'
import type { PostgresqlServer } from '../../test/support/postgresql-server.ts'

/** How the entries of a kind are made from one that the core has stored. */
export interface Model {
  readonly kind: EntryKind
  /** The start of the ids; the number of an entry follows. */
  readonly id: string
  /** The first entry. Each `own` in it has the number of the entry in the others. */
  readonly value: Json
  /** Default: the id of the first entry. */
  readonly own?: string | undefined
}

/** Digits of the number in an id. */
const digits = 7

export const idOf = (prefix: string, number: number): string => prefix + String(number).padStart(digits, '0')

/** Entries of one statement. */
const size = 20_000

/**
 * Stores entries with the numbers 0 to `count - 1`. The core stores the first one; the others are copies of its row with
 * another number, in the key and in the value.
 */
export async function fill(
  server: PostgresqlServer,
  table: string,
  entries: EntryStore,
  { kind, id: prefix, value, own: ownId = idOf(prefix, 0) }: Model,
  count: number,
): Promise<void> {
  const first = idOf(prefix, 0)
  const created = await entries.create(kind, first, value)
  if (created === undefined) throw new Error(`The ${kind} ${first} exists already`)
  const isFirst = `position(convert_to(':${first}', 'UTF8') IN key) = length(key) - ${first.length}`
  const isKind = `position(convert_to('entry:${kind}:', 'UTF8') IN key) > 0`
  const [row] = await server.query(`SELECT encode(key, 'hex') AS key FROM ${table} WHERE ${isFirst} AND ${isKind}`)
  const key = `decode('${String(row?.key)}', 'hex')`
  const number = `lpad(n::text, ${digits}, '0')`
  for (let from = 1; from < count; from += size) {
    const to = Math.min(count, from + size) - 1
    await server.query(`INSERT INTO ${table} (key, value, ends)
SELECT overlay(key PLACING convert_to(${number}, 'UTF8') FROM length(key) - ${digits - 1}),
  replace(value, '${ownId}', '${ownId.slice(0, -digits)}' || ${number}), ends
FROM ${table}, generate_series(${from}, ${to}) n WHERE key = ${key}`)
  }
}
