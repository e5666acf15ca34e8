/** Returns the first keys that start with `base` and come after `after`, in order. For storages without an ordered index. */
export const firstOf = (keys: readonly string[], base: string, after: string, limit: number): string[] =>
  keys
    .filter((key) => key.startsWith(base) && key > after)
    .sort()
    .slice(0, limit)
