import { isJsonObject } from '@grantry/core'

/** Members of an entry, by their names. */
export type Members = Readonly<Record<string, unknown>>

/** Returns the members of `left` that `right` has not, or has with another value. */
export const differences = (left: object, right: object): Members =>
  Object.fromEntries(
    Object.entries(left).filter(
      ([member, value]) => JSON.stringify(value) !== JSON.stringify((right as Members)[member]),
    ),
  )

/** Applies a change: each member replaces the present one; `undefined` and `null` remove it (RFC 7396, one level deep). */
export const changed = <T extends object>(value: T, change: Members): T =>
  Object.fromEntries(
    Object.entries({ ...value, ...change }).filter(([, member]) => member !== undefined && member !== null),
  ) as T

const byCode = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0)

/** Returns the same value with the members of all objects in the order of their names. */
export function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder)
  if (!isJsonObject(value)) return value
  const names = Object.keys(value).sort(byCode)
  return Object.fromEntries(names.map((name) => [name, inOrder(value[name])]))
}

/** Returns a text that is equal for equal values, whatever the order of members. */
export const canonical = (value: unknown): string => JSON.stringify(inOrder(value)) ?? ''

/** Sorts a list whose order has no meaning; of a JWK set, its keys; of any other object, the lists in it. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical).sort(byCode)
  if (!isJsonObject(value)) return value
  if (Array.isArray(value.keys)) return { ...value, keys: sorted(value.keys) }
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, sorted(member)]))
}

/** Whether two values of a member are equal. `isSet`: the order of the list has no meaning. */
export const areEqual = (left: unknown, right: unknown, isSet: boolean): boolean =>
  isSet ? canonical(sorted(left)) === canonical(sorted(right)) : canonical(left) === canonical(right)
