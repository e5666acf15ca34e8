/** Version of the table. It is the value of the row with the empty key, which no item has. */
export const schemaVersion = '1'

const identifier = /^[a-z_][a-z0-9_]{0,39}$/u

/** @throws TypeError when the prefix is invalid. */
export function assertPrefix(prefix: string, caller: string): void {
  if (typeof prefix === 'string' && identifier.test(prefix)) return
  throw new TypeError(`${caller}: prefix must be 1 to 40 lower-case letters, digits and _, and not begin with a digit`)
}

/** The statements on the table of a prefix. Times are in milliseconds since the epoch. */
export type Statements = ReturnType<typeof statementsFor>

// The table has row ids: records are larger than a few per page, so a table that is sorted by its random keys would
// write another page for each of them.
export function statementsFor(prefix: string) {
  const table = `"${prefix}_items"`
  const put = `INSERT INTO ${table} (key, value, ends) VALUES (?1, ?2, ?3)
ON CONFLICT (key) DO UPDATE SET value = excluded.value, ends = excluded.ends`
  return {
    table: `${prefix}_items`,
    /** Creates what is missing. They can be performed again. */
    schema: [
      `CREATE TABLE IF NOT EXISTS ${table} (key BLOB NOT NULL PRIMARY KEY, value NOT NULL, ends INTEGER NOT NULL)`,
      `CREATE INDEX IF NOT EXISTS "${prefix}_items_ends" ON ${table} (ends)`,
      `INSERT INTO ${table} (key, value, ends) VALUES (x'', '${schemaVersion}', ${Number.MAX_SAFE_INTEGER}) ON CONFLICT (key) DO NOTHING`,
    ],
    version: `SELECT value FROM ${table} WHERE key = x''`,
    /** Parameters: key, now. */
    read: `SELECT value FROM ${table} WHERE key = ?1 AND ends > ?2`,
    /** Parameters: key, value, end. */
    put,
    /** Parameters: key, value, end, now. Returns a row if the item was created. */
    insert: `${put} WHERE ends <= ?4 RETURNING 1 AS created`,
    /** Parameters: key, end of a new counter, now. Returns another text than a number if the item is no counter. */
    increment: `INSERT INTO ${table} (key, value, ends) VALUES (?1, '1', ?2)
ON CONFLICT (key) DO UPDATE SET
  value = CASE
    WHEN ends <= ?3 THEN '1'
    WHEN typeof(value) = 'text' AND length(value) BETWEEN 1 AND 15 AND value NOT GLOB '*[^0-9]*'
      THEN CAST(CAST(value AS INTEGER) + 1 AS TEXT)
    ELSE value END,
  ends = CASE WHEN ends <= ?3 THEN excluded.ends ELSE ends END
RETURNING value`,
    /** Parameter: key. */
    remove: `DELETE FROM ${table} WHERE key = ?1`,
    /** Parameters: now, limit. */
    sweep: `DELETE FROM ${table} WHERE key IN (SELECT key FROM ${table} WHERE ends <= ?1 ORDER BY ends LIMIT ?2) RETURNING ends`,
    /** Parameters: the first key, the key before which to end, now. */
    keys: `SELECT key FROM ${table} WHERE key >= ?1 AND key < ?2 AND ends > ?3`,
    /** Parameters: the key after which to start, now, limit. */
    list: `SELECT key, value, ends FROM ${table} WHERE key > ?1 AND ends > ?2 ORDER BY key LIMIT ?3`,
    /** Parameters: key, old value, new value, end, now. Returns a row if the value was replaced. */
    replace: `UPDATE ${table} SET value = ?3, ends = ?4 WHERE key = ?1 AND value = ?2 AND ends > ?5 RETURNING 1 AS replaced`,
    /** Parameters: the first key, the key before which to end, now, limit. */
    page: `SELECT key FROM ${table} WHERE key >= ?1 AND key < ?2 AND ends > ?3 ORDER BY key LIMIT ?4`,
    count: `SELECT count(*) - 1 AS items FROM ${table}`,
  }
}
