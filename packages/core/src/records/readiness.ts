import type { Runtime } from '../runtime.ts'

/** The minimum interval between write probes, in milliseconds. Calls in between get the last result. */
const probeInterval = 1000

/** Tracks whether the storage can be read and written. */
export interface Readiness {
  /** Call it after every failed write. */
  writeFailed(): void
  /**
   * Reads from the storage. After a failed write, also writes to it, because a full disk can still be read; stops
   * writing once a probe succeeds. Never rejects.
   */
  isReady(): Promise<boolean>
}

/**
 * @param read rejects when the storage cannot be read.
 * @param write rejects when the storage cannot be written. Should write as much as a large request: a full disk often
 * has room for a few bytes.
 */
export function createReadiness(deps: {
  readonly read: () => Promise<unknown>
  readonly write: () => Promise<unknown>
  readonly runtime: Pick<Runtime, 'elapsed'>
}): Readiness {
  const { read, write, runtime } = deps
  let failures = 0
  let recoveredFrom = 0
  let nextProbeAt = Number.NEGATIVE_INFINITY
  let probing: Promise<void> | undefined

  async function probe(): Promise<void> {
    const known = failures
    try {
      await write()
      // Not `failures`: a write that failed during the probe still counts.
      recoveredFrom = known
    } catch {
      // The storage still cannot be written: `recoveredFrom` stays the same.
    } finally {
      nextProbeAt = runtime.elapsed() + probeInterval
      probing = undefined
    }
  }

  return {
    writeFailed() {
      failures += 1
    },
    async isReady() {
      try {
        await read()
      } catch {
        return false
      }
      if (failures > recoveredFrom && (probing !== undefined || runtime.elapsed() >= nextProbeAt)) {
        probing ??= probe()
        await probing
      }
      return failures === recoveredFrom
    },
  }
}
