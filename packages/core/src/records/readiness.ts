import type { MaybePromise } from '../json.ts'
import type { Runtime } from '../runtime.ts'

/** Milliseconds between two write probes; a caller that asks more often gets the last result. */
const probeEvery = 1000

/** Whether the storage can be read and written. */
export interface Readiness {
  /** Call it after every write that failed. */
  writeFailed(): void
  /**
   * Reads the storage, and writes to it when a write has failed: a full disk can still be read. Once a probe has written, only a read is left. Never
   * rejects.
   */
  isReady(): Promise<boolean>
}

/**
 * @param read rejects when the storage cannot be read.
 * @param write rejects when the storage cannot be written. Writes as much as the largest usual request does: a full disk often has room for a byte.
 */
export function createReadiness(deps: {
  readonly read: () => MaybePromise<unknown>
  readonly write: () => MaybePromise<unknown>
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
      // A write that has failed meanwhile counts.
      recoveredFrom = known
    } catch {
      // The storage still cannot be written, which is the result.
    } finally {
      nextProbeAt = runtime.elapsed() + probeEvery
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
