import type { JWK } from 'jose'
import * as v from 'valibot'
import type { Fact } from '../events/event.ts'
import { isJsonObject } from '../json.ts'
import { algorithms, type Runtime, type SigningAlgorithm } from '../runtime.ts'
import { generateKey, publicPartOf, thumbprintOf } from './import-key.ts'
import type { KeyInfo } from './key-ring.ts'

/** The form of the `kid` of every stored key: a SHA-256 thumbprint (RFC 7638). */
export const thumbprintForm = /^[\w-]{43}$/u

const time = v.pipe(v.number(), v.integer())
const jwkSchema = v.custom<JWK>(isJsonObject)

const storedKeySchema = v.object({
  kid: v.string(),
  algorithm: v.picklist(algorithms),
  state: v.picklist(['next', 'current', 'retiring']),
  /** The private key; for a retiring key, only the public key. */
  jwk: jwkSchema,
  createdAt: time,
  activatedAt: v.exactOptional(time),
  retiredAt: v.exactOptional(time),
  keptUntil: v.exactOptional(time),
})

/** The schema of a generation of the ring. A generation is immutable; every change creates a new one. */
export const ringContentSchema = v.object({
  issuer: v.string(),
  number: v.pipe(v.number(), v.integer(), v.minValue(1)),
  keys: v.pipe(v.array(storedKeySchema), v.minLength(1)),
})

export type StoredKey = v.InferOutput<typeof storedKeySchema>
export type RingContent = v.InferOutput<typeof ringContentSchema>

export const infoOf = ({ jwk: _, ...info }: StoredKey): KeyInfo => info

/** Generates a key in the state `next`. */
export async function newKey(algorithm: SigningAlgorithm, runtime: Runtime): Promise<StoredKey> {
  const jwk = await generateKey(algorithm)
  const kid = thumbprintOf(jwk, runtime)
  // A command line would parse it as an option.
  if (kid.startsWith('-')) return newKey(algorithm, runtime)
  return { kid, algorithm, state: 'next', jwk, createdAt: runtime.now() }
}

/** Returns the key in the state `retiring`, without its private part. */
export const retired = (key: StoredKey, now: number, keptUntil: number): StoredKey => ({
  ...key,
  state: 'retiring',
  jwk: publicPartOf(key.jwk),
  retiredAt: now,
  keptUntil,
})

const activated = (key: StoredKey, now: number): StoredKey => ({ ...key, state: 'current', activatedAt: now })

export const keyIn = (
  { keys }: Pick<RingContent, 'keys'>,
  algorithm: SigningAlgorithm,
  state: StoredKey['state'],
): StoredKey | undefined => keys.find((key) => key.algorithm === algorithm && key.state === state)

/** Removes the retired keys whose tokens have all expired. */
export const withoutEnded = (keys: readonly StoredKey[], now: number): StoredKey[] =>
  keys.filter(({ keptUntil }) => keptUntil === undefined || keptUntil > now)

/** The content of a new generation, and the events to record if this process inserts it. */
export interface RingChange {
  readonly keys: readonly StoredKey[]
  readonly facts: readonly Fact[]
}

export interface ChangeDeps {
  /** The configured algorithms. */
  readonly algorithms: readonly SigningAlgorithm[]
  /** Seconds for which a retired key verifies. */
  readonly keptFor: number
  readonly runtime: Runtime
}

export type RotationReason = Extract<Fact, { readonly type: 'keys_rotated' }>['reason']

/**
 * Rotates one algorithm: the next key, which is already published, becomes the current key. A new algorithm has no next
 * key and gets a new current key.
 */
async function rotatedKeys(
  ring: Pick<RingContent, 'keys'>,
  algorithm: SigningAlgorithm,
  reason: RotationReason,
  { keptFor, runtime }: ChangeDeps,
): Promise<RingChange> {
  const now = runtime.now()
  const before = keyIn(ring, algorithm, 'current')
  const published = keyIn(ring, algorithm, 'next')
  // Together: an RSA key takes a tenth of a second.
  const [waiting, nextKey] = await Promise.all([published ?? newKey(algorithm, runtime), newKey(algorithm, runtime)])
  const keys = [
    activated(waiting, now),
    nextKey,
    ...(before === undefined ? [] : [retired(before, now, now + keptFor)]),
  ]
  const facts: readonly Fact[] = [
    {
      type: 'keys_rotated',
      algorithm,
      // Not `before` alone: a compromised key is removed before the rotation.
      reason: before === undefined && published === undefined ? 'algorithm_added' : reason,
      kid: waiting.kid,
      nextKid: nextKey.kid,
      ...(before !== undefined && { retiredKid: before.kid }),
    },
  ]
  return { keys, facts }
}

/**
 * Returns the ring after a rotation of these algorithms. It also retires the keys of algorithms that are no longer
 * configured, and removes expired keys.
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
  // An algorithm has no next key if the configuration refuses it.
  const unannounced = algorithms.filter((algorithm) => keyIn({ keys: kept }, algorithm, 'next') === undefined)
  const keys = [...kept, ...(await Promise.all(unannounced.map((algorithm) => newKey(algorithm, runtime))))]
  // In the order of the configuration, so that every process publishes the same document.
  const rank = ({ algorithm }: StoredKey): number => algorithms.indexOf(algorithm) + 1 || algorithms.length + 1
  return { keys: keys.sort((left, right) => rank(left) - rank(right)), facts: changes.flatMap(({ facts }) => facts) }
}

/** Returns the ring with this key retired or removed. */
export async function retiredRing(
  ring: Pick<RingContent, 'keys'>,
  key: StoredKey,
  compromised: boolean,
  deps: ChangeDeps,
): Promise<RingChange> {
  const { algorithm, kid } = key
  const fact: Fact = { type: 'key_retired', kid, algorithm, compromised }
  const without = { keys: ring.keys.filter((listed) => listed.kid !== kid) }
  if (key.state === 'retiring') return { keys: without.keys, facts: [fact] }
  // An algorithm that is no longer configured gets no new key.
  const needed = deps.algorithms.includes(algorithm)
  if (key.state === 'next') {
    const successors = needed ? [await newKey(algorithm, deps.runtime)] : []
    return { keys: [...without.keys, ...successors], facts: [fact] }
  }
  const change = await rotatedRing(compromised ? without : ring, needed ? [algorithm] : [], 'command', deps)
  return { keys: change.keys, facts: [fact, ...change.facts] }
}
