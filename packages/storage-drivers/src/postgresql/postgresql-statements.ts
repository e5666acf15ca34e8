import { createHash } from 'node:crypto'
import type { Statement } from './postgresql-connection.ts'
import type { TableLocation } from './postgresql-options.ts'

/** The statements of one table. */
export interface Statements {
  /** $1: keys. Returns the keys and values of the items that have not expired. */
  readonly read: Statement
  /**
   * $1 to $3: keys, values and seconds of items to create, $4 to $6: of those to put, $7: for each of the latter, the key
   * of the item that must be created, or the empty key. Returns the keys that were created.
   */
  readonly write: Statement
  /** $1: key. */
  readonly remove: Statement
  /** $1: key, $2: old value, $3: new value. */
  readonly replace: Statement
  /**
   * $1: keys of counters, $2: amounts, $3: seconds of new ones, $4: keys of items. Returns whether it is a counter, the
   * key and the value.
   */
  readonly count: Statement
  /**
   * $1 to $3: keys, values and seconds of the items to create, $4 to $6: of those to put, $7: keys to remove. Returns
   * whether the changes were made, and the keys of the items to create that existed when the statement began.
   */
  readonly commit: Statement
  /**
   * $1: number of rows, $2: the earliest end, in seconds since the epoch, $3: seconds to search again. Returns how many
   * were removed, the seconds since the first of their ends, and the earliest end of the next search: the last of their
   * ends if there are more rows, otherwise $3 before now.
   */
  readonly sweep: Statement
  /** $1: the first key, $2: a key after the last, $3: number of rows. Returns keys in order. */
  readonly list: Statement
  /** The same, with values, and the milliseconds until the end or `Infinity`. */
  readonly listItems: Statement
  /** $1: keys. */
  readonly removeAll: Statement
  /** Returns the number of items. It is an estimate for a large table. */
  readonly countItems: Statement
}

/**
 * Returns a prepared statement, whose name depends on its text: behind a PgBouncer, drivers of several tables or versions
 * can share a session.
 */
export function statementOf(name: string, text: string): Statement {
  return { name: `grantry_${name}_${createHash('sha256').update(text).digest('hex').slice(0, 16)}`, text }
}

/** The name of the table in SQL. The parts are identifiers without quotes. */
export const tableOf = ({ schema, prefix }: TableLocation): string => `"${schema}"."${prefix}_items"`

// Another role may create functions and operators in a schema of the search path. PostgreSQL prefers those with the exact
// types of the arguments, so each function is named with its schema, and each operator has operands of exactly its types.

/** The key as hex digits, whatever `bytea_output` is. */
const hexKey = "pg_catalog.encode(key, 'hex')"

/** The end of an item, from its lifetime in seconds. By the clock of the database, which all processes share. */
const endAfter = (seconds: string): string =>
  `CASE WHEN ${seconds} = 'infinity' THEN 'infinity' ELSE pg_catalog.now() + ${seconds} * interval '1 second' END`

const replace = 'ON CONFLICT (key) DO UPDATE SET value = excluded.value, ends = excluded.ends'
/** Waits for a concurrent transaction that writes the same key, and then sees its outcome. */
const replaceExpired = `${replace} WHERE item.ends <= pg_catalog.now()`

// Sorted by key, so that two statements do not wait for each other.
const itemsOf = (keys: string, values: string, seconds: string): string =>
  `SELECT key, value, ${endAfter('seconds')}
    FROM ROWS FROM (
      pg_catalog.unnest(${keys}), pg_catalog.unnest(${values}), pg_catalog.unnest(${seconds})
    ) AS given (key, value, seconds)`

// The statement searches no row except by the primary key, through ON CONFLICT, so its plan is the same for each size of the table,
// and PostgreSQL plans it once for a connection. A statement with `ANY ($1)` is planned each time.
const writeText = (table: string): string => `WITH created AS (
  INSERT INTO ${table} AS item (key, value, ends)
  ${itemsOf('$1::bytea[]', '$2::text[]', '$3::float8[]')}
  ORDER BY key ${replaceExpired} RETURNING key
), put AS (
  INSERT INTO ${table} AS item (key, value, ends)
  SELECT key, value, ${endAfter('seconds')}
    FROM ROWS FROM (
      pg_catalog.unnest($4::bytea[]), pg_catalog.unnest($5::text[]), pg_catalog.unnest($6::float8[]),
      pg_catalog.unnest($7::bytea[])
    ) AS given (key, value, seconds, condition)
  WHERE condition = ''::bytea OR condition IN (SELECT key FROM created)
  ORDER BY key ${replace}
)
SELECT ${hexKey} FROM created`

// The spent marker of a redemption is alone in `create`, so a lost race writes nothing. With more items, a statement
// that has created the first one and cannot create another one ends with an error, which undoes it: the cast of a text
// that depends on the number, so that it is not performed when the statement is planned.
const commitText = (table: string): string => `WITH existing AS MATERIALIZED (
  SELECT key FROM ${table} WHERE key = ANY ($1::bytea[]) AND ends > pg_catalog.now()
), first AS (
  INSERT INTO ${table} AS item (key, value, ends)
  ${itemsOf('($1::bytea[])[1:1]', '($2::text[])[1:1]', '($3::float8[])[1:1]')}
  WHERE NOT EXISTS (SELECT FROM existing)
  ${replaceExpired} RETURNING key
), others AS (
  INSERT INTO ${table} AS item (key, value, ends)
  ${itemsOf('($1::bytea[])[2:]', '($2::text[])[2:]', '($3::float8[])[2:]')}
  WHERE EXISTS (SELECT FROM first)
  ORDER BY key ${replaceExpired} RETURNING key
), created AS MATERIALIZED (
  SELECT (SELECT pg_catalog.count(*) FROM first) AS first, (SELECT pg_catalog.count(*) FROM others) AS others
), complete AS MATERIALIZED (
  SELECT CASE
    WHEN first + others = pg_catalog.cardinality($1::bytea[]) THEN true
    WHEN first = 0 THEN false
    ELSE ('created ' || (first + others)::text)::boolean
  END AS is_complete FROM created
), put AS (
  INSERT INTO ${table} AS item (key, value, ends)
  ${itemsOf('$4::bytea[]', '$5::text[]', '$6::float8[]')}
  WHERE (SELECT is_complete FROM complete)
  ORDER BY key ${replace}
), removed AS (
  DELETE FROM ${table} WHERE key = ANY ($7::bytea[]) AND (SELECT is_complete FROM complete)
)
SELECT is_complete, ARRAY (SELECT ${hexKey} FROM existing) FROM complete`

// A damaged counter keeps its value, so that it does not fail the other ones. A counter may be lost in a crash, so the
// statement does not wait for the disk.
const countText = (table: string): string => `WITH relaxed AS MATERIALIZED (
  SELECT pg_catalog.set_config('synchronous_commit', 'off', true)
), counted AS (
  INSERT INTO ${table} AS item (key, value, ends)
  SELECT key, amount::text, ${endAfter('seconds')}
  FROM ROWS FROM (
    pg_catalog.unnest($1::bytea[]), pg_catalog.unnest($2::bigint[]), pg_catalog.unnest($3::float8[])
  ) AS given (key, amount, seconds), relaxed
  ORDER BY key
  ON CONFLICT (key) DO UPDATE SET
    value = CASE
      WHEN item.ends <= pg_catalog.now() THEN excluded.value
      WHEN item.value ~ '^[0-9]{1,15}$' THEN (item.value::bigint + excluded.value::bigint)::text
      ELSE item.value
    END,
    ends = CASE WHEN item.ends <= pg_catalog.now() THEN excluded.ends ELSE item.ends END
  RETURNING key, value
)
SELECT true, ${hexKey}, value FROM counted
UNION ALL
SELECT false, ${hexKey}, value FROM ${table} WHERE key = ANY ($4::bytea[]) AND ends > pg_catalog.now()`

// By their places, which do not change while the rows are locked. With a condition on `key` or `ends`, PostgreSQL could
// compare every expired row with the list, if few were when it planned the statement.
const sweepText = (table: string): string => `WITH removed AS (
  DELETE FROM ${table} WHERE ctid = ANY (ARRAY (
    SELECT ctid FROM ${table} WHERE ends <= pg_catalog.now() AND ends >= pg_catalog.to_timestamp($2::float8)
    ORDER BY ends LIMIT $1::int FOR UPDATE SKIP LOCKED
  )) RETURNING ends
)
SELECT pg_catalog.count(*), extract(epoch FROM pg_catalog.now() - pg_catalog.min(ends))::float8,
  extract(epoch FROM CASE
    WHEN pg_catalog.count(*) < $1::int::bigint THEN pg_catalog.now() - $3::float8 * interval '1 second'
    ELSE pg_catalog.max(ends)
  END)::text FROM removed`

/**
 * Ends a statement with division_by_zero on a server that is read-only: it can be a replica, whose reads are late.
 * Performed once, before the rows are read, also if there is none. Nothing else divides.
 */
const onPrimary =
  "(SELECT 1 / CASE pg_catalog.current_setting('transaction_read_only') WHEN 'off' THEN 1 ELSE 0 END) = 1"

const page = `WHERE key >= $1::bytea AND key < $2::bytea AND ends > pg_catalog.now() AND ${onPrimary}
  ORDER BY key LIMIT $3::int`

export function statementsOf(location: TableLocation): Statements {
  const table = tableOf(location)
  const texts = {
    read: `SELECT ${hexKey}, value FROM ${table}
      WHERE key = ANY ($1::bytea[]) AND ends > pg_catalog.now() AND ${onPrimary}`,
    write: writeText(table),
    remove: `DELETE FROM ${table} WHERE key = $1::bytea`,
    replace: `UPDATE ${table} SET value = $3::text, ends = ${endAfter('$4::float8')}
      WHERE key = $1::bytea AND value = $2::text AND ends > pg_catalog.now()`,
    count: countText(table),
    commit: commitText(table),
    sweep: sweepText(table),
    list: `SELECT ${hexKey} FROM ${table} ${page}`,
    listItems: `SELECT ${hexKey}, value, CASE WHEN ends = 'infinity' THEN 'Infinity'
      ELSE (extract(epoch FROM ends - pg_catalog.now())::float8 * 1000::float8)::text END FROM ${table} ${page}`,
    countItems: `SELECT CASE WHEN reltuples > 100000::float4 THEN reltuples::bigint
      ELSE (SELECT pg_catalog.count(*) FROM ${table} WHERE ends > pg_catalog.now() AND key > ''::bytea) END
      FROM pg_catalog.pg_class WHERE oid = '${table}'::regclass::oid`,
    removeAll: `DELETE FROM ${table} WHERE key = ANY ($1::bytea[])`,
  }
  return Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [name, statementOf(name, text)]),
  ) as unknown as Statements
}
