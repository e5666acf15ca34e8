import type { DriverChanges, DriverItem } from '@grantry/core'
import { packKey } from '../sql/item-key.ts'
import { assertLasting, endOf } from '../sqlite/item-end.ts'
import { encodeValue } from '../sqlite/item-value.ts'
import type { D1Statements } from './d1-statements.ts'
import type { D1Executor } from './executor.ts'

/** Returns bytes in the digits that `hex()` of SQLite uses. */
export const hexOf = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0'))
    .join('')
    .toUpperCase()

export const hexKey = (key: string): string => hexOf(packKey(key))

function jsonItem({ key, value, ttl }: DriverItem, now: number): readonly unknown[] {
  assertLasting(ttl, 'a committed item')
  const encoded = encodeValue(value)
  const end = endOf(ttl, now)
  return typeof encoded === 'string' ? [hexKey(key), encoded, end] : [hexKey(key), hexOf(encoded), end, 1]
}

/**
 * Performs a commit with one batch, which D1 performs in one transaction. Each statement has the condition that none of
 * the items to create exists. These are created last, so that the condition stays true until then.
 */
export function createCommit({ batch }: D1Executor, sql: D1Statements) {
  return async ({ create, put, remove }: DriverChanges): Promise<true | readonly string[]> => {
    const now = Date.now()
    const created = create.map((item) => jsonItem(item, now))
    const written = put.map((item) => jsonItem(item, now))
    const keys = create.map(({ key }) => hexKey(key))
    const common = [JSON.stringify(keys), now]
    const [existing = []] = await batch([
      [sql.existing, ...common],
      ...(written.length > 0 ? [[sql.putIfFree, ...common, JSON.stringify(written)] as const] : []),
      ...(remove.length > 0 ? [[sql.removeIfFree, ...common, JSON.stringify(remove.map(hexKey))] as const] : []),
      ...(created.length > 0 ? [[sql.putIfFree, ...common, JSON.stringify(created)] as const] : []),
    ])
    if (existing.length === 0) return true
    const existingKeys = new Set(existing.map(({ key }) => key))
    return create.filter((_, index) => existingKeys.has(keys[index])).map(({ key }) => key)
  }
}
