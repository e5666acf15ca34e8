import type { JWK } from 'jose'
import { calculateJwkThumbprint } from 'jose/jwk/thumbprint'
import * as v from 'valibot'
import { algorithms, type Runtime, type SigningAlgorithm } from '../runtime.ts'
import { generateKey } from './generate-key.ts'
import { publicPartOf } from './import-key.ts'
import type { KeyInfo } from './key-ring.ts'

/** RFC 7638 with SHA-256: the form of the id of every key that is kept in the store. */
export const thumbprintForm = /^[\w-]{43}$/u

const time = v.pipe(v.number(), v.integer())
const jwkSchema = v.custom<JWK>((value) => typeof value === 'object' && value !== null && !Array.isArray(value))

const storedKeySchema = v.object({
  kid: v.string(),
  algorithm: v.picklist(algorithms),
  state: v.picklist(['next', 'current', 'retiring']),
  /** Private while it may still sign; of a retiring key only the public part. */
  jwk: jwkSchema,
  createdAt: time,
  activatedAt: v.exactOptional(time),
  retiredAt: v.exactOptional(time),
  keptUntil: v.exactOptional(time),
})

/** A complete generation of the ring. It never changes: what changes is a new generation. */
export const ringContentSchema = v.object({
  issuer: v.string(),
  number: v.pipe(v.number(), v.integer(), v.minValue(1)),
  keys: v.pipe(v.array(storedKeySchema), v.minLength(1)),
})

export type StoredKey = v.InferOutput<typeof storedKeySchema>
export type RingContent = v.InferOutput<typeof ringContentSchema>

export const infoOf = ({ jwk: _, ...info }: StoredKey): KeyInfo => info

/** A key that is published and does not sign yet. */
export async function newKey(algorithm: SigningAlgorithm, runtime: Runtime): Promise<StoredKey> {
  const jwk = await generateKey(algorithm)
  const kid = await calculateJwkThumbprint(publicPartOf(jwk))
  // On a command line it would be taken for an option.
  if (kid.startsWith('-')) return newKey(algorithm, runtime)
  return { kid, algorithm, state: 'next', jwk, createdAt: runtime.now() }
}

/** The key does not sign any more, so its private part is not needed. */
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

/** Without the keys of which no token can live any more. */
export const withoutEnded = (keys: readonly StoredKey[], now: number): StoredKey[] =>
  keys.filter(({ keptUntil }) => keptUntil === undefined || keptUntil > now)
