/** The largest bucket, in microseconds; longer latencies count as this value. */
const longest = 200_000

export interface Histogram {
  /** @param elapsed milliseconds */
  add(elapsed: number): void
  /** Returns a quantile in milliseconds. */
  quantile(part: number): number
}

/** Counts latencies per microsecond in preallocated memory, so that the generator creates no garbage. */
export function createHistogram(): Histogram {
  const buckets = new Uint32Array(longest + 1)
  let total = 0
  return {
    add(elapsed) {
      const bucket = Math.min(longest, Math.round(elapsed * 1000))
      buckets[bucket] = (buckets[bucket] ?? 0) + 1
      total += 1
    },
    quantile(part) {
      let seen = 0
      for (let bucket = 0; bucket <= longest; bucket += 1) {
        seen += buckets[bucket] ?? 0
        if (seen >= total * part) return bucket / 1000
      }
      return longest / 1000
    },
  }
}
