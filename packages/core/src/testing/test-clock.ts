/** A clock that only advances when a test advances it. */
export interface TestClock {
  /** Epoch seconds. */
  now(): number
  advance(seconds: number): void
}

export function createTestClock(start = 1_800_000_000): TestClock {
  let now = start
  return {
    now: () => now,
    advance(seconds) {
      now += seconds
    },
  }
}
