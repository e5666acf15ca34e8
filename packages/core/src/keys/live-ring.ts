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
  const { key, ...found } = await importKey(
    { ...materialOf(jwk), alg: algorithm },
    `keys: the stored key ${kid}`,
    runtime,
  )
  if (key.kid !== kid || found.private === (state === 'retiring')) throw ringFault('unreadable')
  return key
}

/**
 * Imports the keys of a generation that are not imported yet.
 *
 * @throws TypeError with a sentence when a key cannot be used.
 */
export async function importRing(
  found: FoundRing,
  previous: LiveRing | undefined,
  algorithms: readonly SigningAlgorithm[],
  runtime: Runtime,
): Promise<LiveRing> {
  const { content, sealed, refused } = found
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
export const isSameRing = (one: FoundRing, other: FoundRing): boolean =>
  one.content.number === other.content.number &&
  one.content.keys.map(({ kid }) => kid).join() === other.content.keys.map(({ kid }) => kid).join()
