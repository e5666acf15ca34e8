/** Microseconds that have a bucket of their own; what takes longer counts as this much. */
const longest = 200_000

export interface Histogram {
  /** @param elapsed milliseconds */
  add(elapsed: number): void
  /** Milliseconds below which this part of all is. */
  quantile(part: number): number
}

/** Latencies by the microsecond, in memory that is made once: the generator must make no garbage of its own. */
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
