import type { EndpointKit } from '@grantry/core'
import * as v from 'valibot'
import { keptRecord } from '../shared/kept-record.ts'

/** Seconds; the longest `interactionLifetime`, so nothing waits longer for its user. */
export const maxInteractionLifetime = 86_400

const text = v.string()

/**
 * The state of a user when the user was authenticated: values that change when the user is revoked, or when all sessions
 * of the user end. What a user has proved or decided carries it, and has no effect once it is outdated.
 */
export interface Standing {
  readonly epoch?: string | undefined
  readonly generation?: string | undefined
}

export const standingEntries = { epoch: v.exactOptional(text), generation: v.exactOptional(text) }

const generationKeyOf = (sub: string): string => `generation of ${sub}`

/** Returns the state that a value carries, and nothing else, as it is stored. */
export const standingIn = ({ epoch, generation }: Standing): Readonly<Record<string, string>> => ({
  ...(epoch !== undefined && { epoch }),
  ...(generation !== undefined && { generation }),
})

/** Returns the current state of a user. Read it before what it protects, so that a later revocation has an effect. */
export async function standingOf(kit: EndpointKit, sub: string): Promise<Standing> {
  const [epoch, generation] = await Promise.all([kit.epochOf(sub), kit.records.get(generationKeyOf(sub), text)])
  return standingIn({ epoch, generation })
}

/** Returns when all sessions of the user have ended last (epoch seconds). `undefined` if that was long ago, or never. */
export function endedAt({ generation = '' }: Standing): number | undefined {
  const time = /\.(\d+)$/u.exec(generation)?.[1]
  return time === undefined ? undefined : Number(time)
}

/** Whether the user was revoked, or all sessions have ended, since. */
export const isOutdated = (carried: Standing, { epoch, generation }: Standing): boolean =>
  (epoch !== undefined && epoch !== carried.epoch) || (generation !== undefined && generation !== carried.generation)

const newGeneration = (kit: EndpointKit): string => `${kit.randomId()}.${kit.now()}`

/** Tickets can live longer than sessions. */
const endOf = (kit: EndpointKit, lifetime: number): number => kit.now() + Math.max(lifetime, maxInteractionLifetime)

/**
 * Makes everything that carries an earlier state of the user outdated.
 *
 * @param lifetime seconds for which sessions live
 */
export const endStanding = (kit: EndpointKit, sub: string, lifetime: number): Promise<void> =>
  kit.records.put(generationKeyOf(sub), newGeneration(kit), endOf(kit, lifetime), keptRecord)

/**
 * Revokes the user, and makes everything that carries an earlier state outdated, unless another call has done so since.
 *
 * @param from the state that was read before
 * @param lifetime seconds for which sessions live
 * @returns the new state, which is that of this call; `undefined` if another call has come first
 */
export async function renewStanding(
  kit: EndpointKit,
  sub: string,
  from: Standing,
  lifetime: number,
): Promise<Standing | undefined> {
  const epoch = await kit.renewEpoch(sub, from.epoch ?? null)
  if (epoch === undefined) return undefined
  let generation: string | undefined
  await kit.records.update(generationKeyOf(sub), text, (present = from.generation) => {
    generation = present === from.generation ? newGeneration(kit) : undefined
    return generation === undefined ? undefined : { value: generation, expiresAt: endOf(kit, lifetime), ...keptRecord }
  })
  return generation === undefined ? undefined : { epoch, generation }
}
