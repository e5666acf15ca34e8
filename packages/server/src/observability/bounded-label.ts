/** Replaces values beyond the limit. */
const others = 'other'

/**
 * Passes through at most `limit` different values and replaces the rest with `other`. Labels with values from plugins
 * must not fill the memory of this process and of Prometheus.
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
