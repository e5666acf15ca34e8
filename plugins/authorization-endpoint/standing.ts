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

/**
 * Makes everything that carries an earlier state of the user outdated.
 *
 * @param lifetime seconds for which sessions live
 */
export const endStanding = (kit: EndpointKit, sub: string, lifetime: number): Promise<void> =>
  // Tickets can live longer than sessions.
  kit.records.put(
    generationKeyOf(sub),
    `${kit.randomId()}.${kit.now()}`,
    kit.now() + Math.max(lifetime, maxInteractionLifetime),
    keptRecord,
  )
