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
