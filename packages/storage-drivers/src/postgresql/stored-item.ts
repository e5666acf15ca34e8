import type { DriverItem } from '@grantry/core'
import { futureOf, keyArray, keyOf, numberArray, storable, textArray } from './parameters.ts'

/** An item as a statement stores it. */
export interface StoredItem {
  readonly key: string
  /** The key of the driver. */
  readonly name: string
  readonly value: string
  /** Seconds. */
  readonly lifetime: number
}

/** @throws TypeError when PostgreSQL cannot store it. */
export const storedItem = (name: string, value: string, lifetime: number): StoredItem => ({
  key: keyOf(name),
  name,
  value: storable(value),
  lifetime,
})

export const storedItems = (items: readonly DriverItem[]): readonly StoredItem[] =>
  items.map(({ key, value, ttl }) => storedItem(key, value, futureOf(ttl, 'a committed item')))

/** Returns the parameters of items: keys, values and seconds. */
export const itemParameters = (items: readonly StoredItem[]): readonly string[] => [
  keyArray(items.map(({ key }) => key)),
  textArray(items.map(({ value }) => value)),
  numberArray(items.map(({ lifetime }) => lifetime)),
]
