import { statementsFor } from '../sqlite/sqlite-statements.ts'

/**
 * The statements of D1, where each one is a trip and takes at most 100 values: lists are JSON. Keys are in hexadecimal
 * digits there. An item is `[key, value, end]`, with a fourth element if the value is in hexadecimal digits, too.
 */
export function d1Statements(prefix: string) {
  const common = statementsFor(prefix)
  const table = `"${common.table}"`
  const keysOf = (parameter: string): string => `SELECT unhex(value) FROM json_each(${parameter})`
  const existing = `SELECT hex(key) AS key FROM ${table} WHERE key IN (${keysOf('?1')}) AND ends > ?2`
  const isFree = `NOT EXISTS (${existing})`
  return {
    ...common,
    /** Parameters: keys, now. */
    readAll: `SELECT hex(key) AS key, value FROM ${table} WHERE key IN (${keysOf('?1')}) AND ends > ?2`,
    /** Parameters: the key after which to start, now, limit. */
    list: `SELECT hex(key) AS key, value, ends FROM ${table} WHERE key > unhex(?1) AND ends > ?2 ORDER BY key LIMIT ?3`,
    /** Parameters: keys to create, now. Returns those that exist. */
    existing,
    /** Writes items if none of the keys to create exists. Parameters: keys to create, now, items. */
    putIfFree: `INSERT INTO ${table} (key, value, ends)
SELECT unhex(json_extract(item.value, '$[0]')),
  CASE WHEN json_extract(item.value, '$[3]') THEN unhex(json_extract(item.value, '$[1]')) ELSE json_extract(item.value, '$[1]') END,
  json_extract(item.value, '$[2]')
FROM json_each(?3) AS item WHERE ${isFree}
ON CONFLICT (key) DO UPDATE SET value = excluded.value, ends = excluded.ends`,
    /** Parameters: keys to create, now, keys to remove. */
    removeIfFree: `DELETE FROM ${table} WHERE key IN (${keysOf('?3')}) AND ${isFree}`,
  }
}

export type D1Statements = ReturnType<typeof d1Statements>
