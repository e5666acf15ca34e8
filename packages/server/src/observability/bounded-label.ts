/** What stands for values beyond the first so many. */
const others = 'other'

/**
 * Lets so many different values through and folds the rest: a label whose values come from a plugin, or from a defect, must not fill the memory of
 * this process and of whoever scrapes it.
 */
export function boundedLabel(limit: number): (value: string) => string {
  const known = new Set<string>()
  return (value) => {
    if (known.has(value)) return value
    if (known.size >= limit) return others
    known.add(value)
    return value
  }
}
