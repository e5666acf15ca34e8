import type { DriverChanges } from '@grantry/core'
import type { ListedItem } from '../copy/listable-driver.ts'
import { packedRanges, packKey, pageRange, unpackKey } from '../sql/item-key.ts'
import type { SweepStep } from '../sql/sweeper.ts'
import type { SqlDatabase } from './engine.ts'
import { assertLasting, endOf, endsAtOf } from './item-end.ts'
import { bytesOf, decodeValue, encodeValue } from './item-value.ts'
import type { Statements } from './sqlite-statements.ts'

/**
 * Performs a part of a transaction, synchronously. It has checked its arguments before, so that it fails only if the
 * database does.
 */
export type Step<T> = (database: SqlDatabase) => T

export type StoredItem = ListedItem

/** Operations on the table of items. Those that write several rows belong into a transaction. */
export interface ItemTable {
  read(key: string): Step<string | null>
  set(key: string, value: string, ttl: number | undefined): Step<void>
  insert(key: string, value: string, ttl: number): Step<boolean>
  /** Returns `NaN` if the item is no counter. */
  increment(key: string, ttl: number): Step<number>
  remove(key: string): Step<void>
  replace(key: string, change: { from: string; to: string; ttl: number }): Step<boolean>
  commit(changes: DriverChanges): Step<true | readonly string[]>
  sweep(limit: number): Step<SweepStep>
  /** Returns the keys that start with `base`. */
  keys(base: string): Step<string[]>
  /** Returns items in the order of their packed keys, after the given one. */
  list(after: Uint8Array, limit: number): Step<readonly StoredItem[]>
  /** Returns keys that start with `base` and come after `after`, in order. */
  page(base: string, after: string, limit: number): Step<string[]>
  count(): Step<number>
}

/** The operations for lists and entries that several requests change. */
function entryTable(sql: Statements): Pick<ItemTable, 'replace' | 'page'> {
  return {
    replace(key, { from, to, ttl }) {
      assertLasting(ttl, 'a replaced item')
      const packed = packKey(key)
      const old = encodeValue(from)
      const changed = encodeValue(to)
      return (database) => {
        const now = Date.now()
        return database.all(sql.replace, packed, old, changed, endOf(ttl, now), now).length > 0
      }
    },
    page(base, after, limit) {
      const [from, below] = pageRange(base, after)
      return (database) =>
        database.all(sql.page, from, below, Date.now(), limit).map(({ key }) => unpackKey(bytesOf(key)))
    },
  }
}

export function itemTable(sql: Statements): ItemTable {
  const put =
    (key: Uint8Array, value: string | Uint8Array, ttl: number | undefined): Step<void> =>
    (database) =>
      database.run(sql.put, key, value, endOf(ttl, Date.now()))
  const removePacked =
    (key: Uint8Array): Step<void> =>
    (database) =>
      database.run(sql.remove, key)

  return {
    read(key) {
      const packed = packKey(key)
      return (database) => {
        const [row] = database.all(sql.read, packed, Date.now())
        return row === undefined ? null : decodeValue(row.value)
      }
    },
    set(key, value, ttl) {
      if (Number.isNaN(ttl)) throw new TypeError('The ttl of a stored item is not a number; give seconds')
      const packed = packKey(key)
      return ttl !== undefined && ttl <= 0 ? removePacked(packed) : put(packed, encodeValue(value), ttl)
    },
    insert(key, value, ttl) {
      assertLasting(ttl, 'an inserted item')
      const packed = packKey(key)
      const encoded = encodeValue(value)
      return (database) => {
        const now = Date.now()
        return database.all(sql.insert, packed, encoded, endOf(ttl, now), now).length > 0
      }
    },
    increment(key, ttl) {
      assertLasting(ttl, 'a counter')
      const packed = packKey(key)
      return (database) => {
        const now = Date.now()
        const [row] = database.all(sql.increment, packed, endOf(ttl, now), now)
        const value = row?.value
        return typeof value === 'string' && /^\d{1,16}$/u.test(value) ? Number(value) : Number.NaN
      }
    },
    remove: (key) => removePacked(packKey(key)),
    ...entryTable(sql),
    commit({ create, put: written, remove }) {
      for (const { ttl } of [...create, ...written]) assertLasting(ttl, 'a committed item')
      const marks = create.map(({ key }) => ({ key, packed: packKey(key) }))
      const steps = [
        ...[...create, ...written].map(({ key, value, ttl }) => put(packKey(key), encodeValue(value), ttl)),
        ...remove.map((key) => removePacked(packKey(key))),
      ]
      return (database) => {
        const now = Date.now()
        const existing = marks.filter(({ packed }) => database.all(sql.read, packed, now).length > 0)
        if (existing.length > 0) return existing.map(({ key }) => key)
        for (const step of steps) step(database)
        return true
      }
    },
    sweep: (limit) => (database) => {
      const now = Date.now()
      const ends = database.all(sql.sweep, now, limit).map((row) => Number(row.ends))
      const age = ends.length === 0 ? 0 : (now - Math.min(...ends)) / 1000
      return { removed: ends.length, age, isFull: ends.length >= limit }
    },
    keys: (base) => (database) =>
      packedRanges(base)
        .flatMap(([from, below]) => database.all(sql.keys, from, below, Date.now()))
        .map(({ key }) => unpackKey(bytesOf(key)))
        .filter((key) => key.startsWith(base)),
    list: (after, limit) => (database) =>
      database.all(sql.list, after, Date.now(), limit).map(({ key, value, ends }) => ({
        key: unpackKey(bytesOf(key)),
        value: decodeValue(value),
        endsAt: endsAtOf(ends),
      })),
    count: () => (database) => Number(database.all(sql.count)[0]?.items),
  }
}
