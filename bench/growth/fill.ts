import type { PostgresqlServer } from '../../test/support/postgresql-server.ts'
import type { BenchTable } from './item-table.ts'
import type { Service } from './service.ts'

/** The kinds of records that a redemption leaves, in the order of their numbers. */
const kinds = ['refresh', 'access', 'spent:refresh'] as const

/** A record that the core has stored, as the model of others. */
interface Model {
  readonly value: string
  /** The part that differs between records. */
  readonly own: string
}

export interface Rows {
  readonly count: number
  /** SQL of the end of each row. */
  readonly ends: string
}

/** The refresh token of a row, for numbers that are a multiple of 3. */
export const tokenOf = (number: number): string => `token-${number}`

const models = new WeakMap<BenchTable, Promise<readonly Model[]>>()

/** Lets the core store one record of each kind. */
async function newModels(server: PostgresqlServer, { name }: BenchTable, service: Service): Promise<readonly Model[]> {
  await service.refresh(await service.login())
  return Promise.all(
    kinds.map(async (kind) => {
      const first = `decode('01', 'hex') || convert_to('${kind}:', 'UTF8')`
      const [row] = await server.query(
        `SELECT value FROM ${name} WHERE substr(key, 1, ${kind.length + 2}) = ${first} LIMIT 1`,
      )
      const value = String(row?.value)
      const stored = JSON.parse(value).value
      return { value, own: String(stored.family ?? stored.claims?.jti ?? stored.attempt) }
    }),
  )
}

/** Rows of one statement. */
const size = 20_000

/**
 * Adds rows to the table with records as the core stores them, under keys as the driver packs them, in two sessions. Indexes
 * exist before, as in a service: their pages are as full as they become by random keys.
 */
export async function fill(server: PostgresqlServer, table: BenchTable, service: Service, rows: Rows): Promise<void> {
  const known = models.get(table) ?? newModels(server, table, service)
  models.set(table, known)
  const insert = insertOf(table, await known)
  let next = table.filled
  const end = next + rows.count
  table.filled = end
  async function session(): Promise<void> {
    while (next < end) {
      const from = next
      next = Math.min(end, from + size)
      await server.query(insert(from, next - from, rows.ends))
    }
  }
  await Promise.all([session(), session()])
}

/** Returns the statement that inserts rows. */
function insertOf({ name }: BenchTable, known: readonly Model[]) {
  const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`
  const rows = known.map(
    ({ value, own: ownId }, place) =>
      `(${place}, ${literal(`${kinds[place]}:`)}, ${literal(value)}, ${literal(ownId)})`,
  )
  return (from: number, count: number, ends: string): string => `INSERT INTO ${name} (key, value, ends)
SELECT decode('01', 'hex') || convert_to(kind, 'UTF8') || sha256(convert_to(CASE place WHEN 0 THEN 'token-' ELSE 'other-' END || n, 'UTF8')),
  replace(value, own, translate(substr(encode(sha256(convert_to('own' || n, 'UTF8')), 'base64'), 1, length(own)), '+/', '-_')),
  ${ends}
FROM generate_series(${from}, ${from + count - 1}) n
JOIN (VALUES ${rows.join(', ')}) AS model (place, kind, value, own) ON place = n % ${kinds.length}`
}
