import { vi } from 'vitest'

/**
 * Milliseconds after which a test that waits for something gives up: a last resort, because the machine can be busy. No
 * test measures time. `expect.poll` has the same limit.
 */
export const lastResort = 60_000

/** Milliseconds between two attempts. */
export const pollInterval = 20

/** Waits until an assertion holds, also in tests that run side by side, where `expect.poll` finds another test. */
export const eventually = <T>(assertion: () => T | Promise<T>, interval = pollInterval): Promise<T> =>
  vi.waitFor(assertion, { timeout: lastResort, interval })

/** Waits until a condition is true, and says for what it waited. */
export const until = (what: string, isSo: () => boolean | Promise<boolean>): Promise<void> =>
  eventually(async () => {
    if (!(await isSo())) throw new Error(`Not so after ${lastResort / 1000} seconds: ${what}`)
  })
