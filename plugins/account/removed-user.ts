import type { EndpointKit } from '@grantry/core'
import * as v from 'valibot'
import { keptRecord } from '../shared/kept-record.ts'

/** Seconds for which a removed user begins no session: longer than a sign-in takes that was in progress. */
export const markLifetime = 172_800

/** Seconds after which a removal that fails is given up: the event has been recorded each time. */
export const removalLifetime = 2_592_000

/** Seconds in which a request is judged again after its mark. If it is not, its process has died, and the removal continues. */
const judgedWithin = 60

const markOf = (sub: string): string => `removed user:${sub}`

/** `true` for a user who is removed; the request that is judged again; `false` if that one is not allowed any more. */
const markSchema = v.union([v.boolean(), v.object({ id: v.string(), at: v.number() })])

/** Whether the user is removed, or about to be. Such a user begins no session, and gets no code. */
export const isRemoved = async (kit: EndpointKit, sub: string): Promise<boolean> =>
  ((await kit.records.get(markOf(sub), markSchema)) ?? false) !== false

const idIn = (mark: v.InferOutput<typeof markSchema> | undefined) => (typeof mark === 'object' ? mark.id : undefined)

/**
 * Marks a user, and asks afterwards whether the removal is still allowed: it counts from the mark, so an act that follows the
 * check meets a user who is removed already. Takes the mark away if it is not allowed, and ends what the request has begun.
 *
 * @param begin writes what a removal needs to continue. Called before the decision: another request that was refused can
 * have replaced and ended it
 * @param end ends that for this request
 * @param expiresAt the end of the mark
 */
export async function markUser(
  kit: EndpointKit,
  sub: string,
  {
    id,
    begin,
    end,
    isStillAllowed,
    expiresAt,
  }: {
    readonly id: string
    readonly begin: () => Promise<unknown>
    readonly end: () => Promise<unknown>
    readonly isStillAllowed: () => Promise<boolean>
    readonly expiresAt: number
  },
): Promise<boolean> {
  const { now } = kit
  await kit.records.update(markOf(sub), markSchema, (present) =>
    present === true ? undefined : { value: { id, at: now() }, expiresAt, ...keptRecord },
  )
  let isAllowed = false
  let isTakenAway = false
  try {
    isAllowed = (await isStillAllowed()) === true
  } finally {
    if (!isAllowed) {
      await kit.records.update(markOf(sub), markSchema, (present) => {
        isTakenAway = idIn(present) === id
        return isTakenAway ? { value: false, expiresAt: now() + 1, ...keptRecord } : undefined
      })
    }
  }
  if (isAllowed) {
    await begin()
    await kit.records.put(markOf(sub), true, expiresAt, keptRecord)
  }
  // Not what another request of the user has begun.
  if (isTakenAway) await end()
  return isAllowed
}

/** Whether the removal of a user was decided, as of one that is complete or waits for another attempt. */
export const isMarked = async ({ records }: EndpointKit, sub: string): Promise<boolean> =>
  (await records.get(markOf(sub), markSchema)) === true

/** Keeps the mark of a user who was removed. */
export const keepMark = ({ records, now }: EndpointKit, sub: string): Promise<unknown> =>
  records.put(markOf(sub), true, now() + markLifetime, keptRecord)

/** Takes away the mark of a user whom the host keeps. */
export const unmark = ({ records }: EndpointKit, sub: string): Promise<unknown> => records.delete(markOf(sub))

/** Whether the removal of a user must be completed. From then on, the request that began it cannot take its mark away. */
export async function isDecided({ records, now }: EndpointKit, sub: string): Promise<boolean> {
  let isDue = false
  await records.update(markOf(sub), markSchema, (present) => {
    isDue = present === true || (typeof present === 'object' && present.at < now() - judgedWithin)
    if (present === true || !isDue) return undefined
    return { value: true, expiresAt: now() + removalLifetime + markLifetime, ...keptRecord }
  })
  return isDue
}
