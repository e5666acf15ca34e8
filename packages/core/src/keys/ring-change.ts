import type { Fact } from '../events/event.ts'
import type { Runtime, SigningAlgorithm } from '../runtime.ts'
import { activated, keyIn, newKey, type RingContent, retired, type StoredKey, withoutEnded } from './ring-content.ts'

/** The content of a new generation, and the events to record if this process inserts it. */
export interface RingChange {
  readonly keys: readonly StoredKey[]
  readonly facts: readonly Fact[]
}

export interface ChangeDeps {
  /** Those of the configuration. */
  readonly algorithms: readonly SigningAlgorithm[]
  /** Seconds that a retired key verifies. */
  readonly keptFor: number
  readonly runtime: Runtime
}

export type RotationReason = Extract<Fact, { readonly type: 'keys_rotated' }>['reason']

/** The key that signs from now on is published since long: it was the next one. Only for an algorithm that is new there is none. */
async function rotatedKeys(
  ring: Pick<RingContent, 'keys'>,
  algorithm: SigningAlgorithm,
  reason: RotationReason,
  { keptFor, runtime }: ChangeDeps,
): Promise<RingChange> {
  const now = runtime.now()
  const before = keyIn(ring, algorithm, 'current')
  const published = keyIn(ring, algorithm, 'next')
  const waiting = published ?? (await newKey(algorithm, runtime))
  const nextKey = await newKey(algorithm, runtime)
  const keys = [
    activated(waiting, now),
    nextKey,
    ...(before === undefined ? [] : [retired(before, now, now + keptFor)]),
  ]
  const facts: readonly Fact[] = [
    {
      type: 'keys_rotated',
      algorithm,
      // A stolen key is gone before the next one takes its place.
      reason: before === undefined && published === undefined ? 'algorithm_added' : reason,
      kid: waiting.kid,
      nextKid: nextKey.kid,
      ...(before !== undefined && { retiredKid: before.kid }),
    },
  ]
  return { keys, facts }
}

/**
 * The ring after a rotation of these algorithms. Whatever else there is to do is done with it: algorithms that left the configuration retire, keys
 * whose time is over go.
 */
export async function rotatedRing(
  ring: Pick<RingContent, 'keys'>,
  due: readonly SigningAlgorithm[],
  reason: RotationReason,
  deps: ChangeDeps,
): Promise<RingChange> {
  const { algorithms, keptFor, runtime } = deps
  const now = runtime.now()
  const changes = await Promise.all(due.map((algorithm) => rotatedKeys(ring, algorithm, reason, deps)))
  const rest = ring.keys.flatMap((key) => {
    if (key.state === 'retiring') return [key]
    if (due.includes(key.algorithm)) return []
    if (algorithms.includes(key.algorithm)) return [key]
    return key.state === 'current' ? [retired(key, now, now + keptFor)] : []
  })
  const kept = [...changes.flatMap((change) => change.keys), ...withoutEnded(rest, now)]
  // The next key of an algorithm is absent when the configuration refuses it.
  const unannounced = algorithms.filter((algorithm) => keyIn({ keys: kept }, algorithm, 'next') === undefined)
  const keys = [...kept, ...(await Promise.all(unannounced.map((algorithm) => newKey(algorithm, runtime))))]
  // In the order of the configuration, so that every process publishes the same document.
  const rank = ({ algorithm }: StoredKey): number => algorithms.indexOf(algorithm) + 1 || algorithms.length + 1
  return { keys: keys.sort((one, other) => rank(one) - rank(other)), facts: changes.flatMap(({ facts }) => facts) }
}

/** The ring without this key, or with it out of use. */
export async function retiredRing(
  ring: Pick<RingContent, 'keys'>,
  key: StoredKey,
  compromised: boolean,
  deps: ChangeDeps,
): Promise<RingChange> {
  const { algorithm, kid } = key
  const fact: Fact = { type: 'key_retired', kid, algorithm, compromised }
  const without = { keys: ring.keys.filter((other) => other.kid !== kid) }
  if (key.state === 'retiring') return { keys: without.keys, facts: [fact] }
  // One that has left the configuration gets no successor.
  const needed = deps.algorithms.includes(algorithm)
  if (key.state === 'next') {
    const successors = needed ? [await newKey(algorithm, deps.runtime)] : []
    return { keys: [...without.keys, ...successors], facts: [fact] }
  }
  const change = await rotatedRing(compromised ? without : ring, needed ? [algorithm] : [], 'command', deps)
  return { keys: change.keys, facts: [fact, ...change.facts] }
}
