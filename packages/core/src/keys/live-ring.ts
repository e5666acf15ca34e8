import type { Runtime, SigningAlgorithm } from '../runtime.ts'
import { importKey, materialOf, publishedKey } from './import-key.ts'
import type { JwkSet, RingKey } from './key-ring.ts'
import { type StoredKey, withoutEnded } from './ring-content.ts'
import { type FoundRing, ringFault } from './ring-records.ts'

/** The imported keys of a stored generation, with which requests sign and verify. */
export interface LiveRing extends FoundRing {
  readonly signers: ReadonlyMap<SigningAlgorithm, RingKey>
  readonly keys: ReadonlyMap<string, RingKey>
  readonly jwks: JwkSet
  /** Epoch seconds at which the first retired key can be removed. */
  readonly endsAt: number
}

async function imported({ kid, algorithm, state, jwk }: StoredKey, runtime: Runtime): Promise<RingKey> {
  // The `kid` must be the thumbprint of the key, so that swapped keys in a record are detected.
  const { key, ...importedKey } = await importKey(
    { ...materialOf(jwk), alg: algorithm },
    `keys: the stored key ${kid}`,
    runtime,
  )
  if (key.kid !== kid || importedKey.private === (state === 'retiring')) throw ringFault('unreadable')
  return key
}

/**
 * Imports the keys of a generation that are not imported yet.
 *
 * @throws TypeError with a sentence when a key cannot be used.
 */
export async function importRing(
  generation: FoundRing,
  previous: LiveRing | undefined,
  algorithms: readonly SigningAlgorithm[],
  runtime: Runtime,
): Promise<LiveRing> {
  const { content, sealed, refused } = generation
  const stored = withoutEnded(content.keys, runtime.now())
  const keys = new Map(
    await Promise.all(
      stored.map(
        async (key): Promise<[string, RingKey]> => [
          key.kid,
          previous?.keys.get(key.kid) ?? (await imported(key, runtime)),
        ],
      ),
    ),
  )
  const signers = new Map<SigningAlgorithm, RingKey>()
  for (const algorithm of algorithms) {
    // A process with another configuration may have retired an algorithm that this process needs. Its key continues to
    // sign until there is a new one.
    const kept = previous?.signers.get(algorithm)
    if (kept !== undefined && keys.has(kept.kid)) signers.set(algorithm, kept)
  }
  for (const { kid, algorithm, state } of stored) {
    const key = keys.get(kid)
    if (state === 'current' && key !== undefined) signers.set(algorithm, key)
  }
  const ends = stored.map(({ keptUntil = Number.POSITIVE_INFINITY }) => keptUntil)
  const jwks = { keys: stored.map(({ jwk, kid, algorithm }) => publishedKey(jwk, kid, algorithm)) }
  return { content, sealed, refused, signers, keys, jwks, endsAt: Math.min(...ends) }
}

/** Whether two generations are the same. */
export const isSameRing = (left: FoundRing, right: FoundRing): boolean =>
  left.content.number === right.content.number &&
  left.content.keys.map(({ kid }) => kid).join() === right.content.keys.map(({ kid }) => kid).join()

/** Seconds after which keys are not used or published without a new read from the storage, unless the read fails. */
export const staleAfter = 60

/**
 * Milliseconds after which a read or a rotation no longer blocks a new one: when a Worker ends a request, what the request
 * started may never settle.
 */
export const abandonedAfter = 30_000
/** The limit of reads for unknown keys, which callers can cause: a burst of this size, and one more each second. */
const burst = 10

/**
 * Decides when to read the ring from the storage to see changes by other processes. Requests trigger the reads; there
 * is no timer.
 */
export interface RingRefresh {
  /**
   * Call it before every use of a key. Waits for a read only if the known keys are too old to be used without one. Never
   * rejects.
   */
  beforeUse(): Promise<void>
  /** Call it before the keys are published. Waits for a read that is due, unless the last one failed. Never rejects. */
  beforePublishing(): Promise<void>
  /** Call it for an unknown key. Resolves to `false`, without a read, if there were too many. */
  forUnknownKey(): Promise<boolean>
  /** Starts a new read, after a read that is in flight. Rejects when it fails. */
  fresh(): Promise<void>
  /** Resolves when no read is in flight. */
  settled(): Promise<void>
}

/** Limits what callers can cause: the function returns `false` beyond the limit. */
function createBurst(runtime: Runtime): () => boolean {
  let tokens = burst
  let countedAt = runtime.elapsed()
  return () => {
    const now = runtime.elapsed()
    tokens = Math.min(burst, tokens + (now - countedAt) / 1000)
    countedAt = now
    if (tokens < 1) return false
    tokens -= 1
    return true
  }
}

/**
 * @param read reads the ring; may reject.
 * @param onFailed called for each failed read. Known keys continue to sign and verify.
 */
export function createRingRefresh(deps: {
  readonly read: () => Promise<void>
  /** The minimum interval between two reads of a process, in seconds. */
  readonly interval: number
  readonly onFailed: (cause: unknown) => void
  readonly runtime: Runtime
}): RingRefresh {
  const { read, interval, onFailed, runtime } = deps
  let nextAt = runtime.elapsed() + interval * 1000
  let staleAt = runtime.elapsed() + staleAfter * 1000
  let failing = false
  let inFlight: { readonly since: number; readonly promise: Promise<void> } | undefined
  const takeToken = createBurst(runtime)

  async function readOnce(): Promise<void> {
    const since = runtime.elapsed()
    try {
      await read()
      failing = false
      // Counted from the start of the read, which may have missed later changes.
      staleAt = since + staleAfter * 1000
    } catch (cause) {
      failing = true
      onFailed(cause)
      throw cause
    } finally {
      nextAt = runtime.elapsed() + interval * 1000
    }
  }

  /** Starts a read, or joins the read that is in flight. */
  function join(): Promise<void> {
    const since = runtime.elapsed()
    if (inFlight !== undefined && since - inFlight.since < abandonedAfter) return inFlight.promise
    const started = { since, promise: readOnce() }
    inFlight = started
    const done = (): void => {
      if (inFlight === started) inFlight = undefined
    }
    // Failures are already reported; this also prevents an unhandled rejection.
    started.promise.then(done, done)
    return started.promise
  }

  // A failed read is already reported; the known keys are used.
  const ignore = (): void => {}
  const quiet = (): Promise<void> => join().then(ignore, ignore)

  return {
    async beforeUse() {
      const now = runtime.elapsed()
      if (now < nextAt) return
      const reading = quiet()
      if (now > staleAt && !failing) await reading
    },
    async beforePublishing() {
      if (runtime.elapsed() < nextAt) return
      const wasFailing = failing
      const reading = quiet()
      if (!wasFailing) await reading
    },
    async forUnknownKey() {
      // A read that started before the token arrived may have missed its key.
      if (inFlight !== undefined) await quiet()
      if (inFlight === undefined && !takeToken()) return false
      await quiet()
      return true
    },
    async fresh() {
      if (inFlight !== undefined) await quiet()
      await join()
    },
    async settled() {
      await inFlight?.promise.then(ignore, ignore)
    },
  }
}
