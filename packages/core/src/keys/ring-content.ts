import type { JWK } from 'jose'
import * as v from 'valibot'
import { algorithms, type Runtime, type SigningAlgorithm } from '../runtime.ts'
import { generateKey, publicPartOf, thumbprintOf } from './import-key.ts'
import type { KeyInfo } from './key-ring.ts'

/** The form of the `kid` of every stored key: a SHA-256 thumbprint (RFC 7638). */
export const thumbprintForm = /^[\w-]{43}$/u

const time = v.pipe(v.number(), v.integer())
const jwkSchema = v.custom<JWK>((value) => typeof value === 'object' && value !== null && !Array.isArray(value))

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

export const activated = (key: StoredKey, now: number): StoredKey => ({ ...key, state: 'current', activatedAt: now })

export const keyIn = (
  { keys }: Pick<RingContent, 'keys'>,
  algorithm: SigningAlgorithm,
  state: StoredKey['state'],
): StoredKey | undefined => keys.find((key) => key.algorithm === algorithm && key.state === state)

/** Removes the retired keys whose tokens have all expired. */
export const withoutEnded = (keys: readonly StoredKey[], now: number): StoredKey[] =>
  keys.filter(({ keptUntil }) => keptUntil === undefined || keptUntil > now)
