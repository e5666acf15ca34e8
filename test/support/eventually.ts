import { setTimeout as sleep } from 'node:timers/promises'
import { vi } from 'vitest'

/**
 * Milliseconds after which a test that waits for something gives up: a last resort, because the machine can be busy. No
 * test measures time. `expect.poll` has the same limit.
 */
export const lastResort = 60_000

/** Milliseconds between two attempts. */
export const pollInterval = 20

/** Waits until an assertion holds, also in tests that run side by side, where `expect.poll` finds another test. */
export const eventually = <T>(assertion: () => T | Promise<T>): Promise<T> =>
  vi.waitFor(assertion, { timeout: lastResort, interval: pollInterval })

/** Waits until a condition is true, and says for what it waited. */
export async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + lastResort
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`Not so after ${lastResort / 1000} seconds: ${what}`)
    await sleep(pollInterval)
  }
}
