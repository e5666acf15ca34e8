import type { EndpointKit } from '@grantry/core'
import * as v from 'valibot'
import { keptRecord } from '../shared/kept-record.ts'

/** Seconds for which a removed user begins no session: longer than a sign-in takes that was in progress. */
export const markLifetime = 172_800

/** Seconds after which a removal that fails is given up: the event has been recorded each time. */
export const removalLifetime = 2_592_000

/**
 * Seconds within which a request that has marked a user must check its permission again. Otherwise, its process has
 * died, and the user stays.
 */
const judgedWithin = 60

const markOf = (sub: string): string => `removed user:${sub}`

/**
 * `true`: the user is removed. An object: the request that must check its permission again. `false`: that request is
 * no longer permitted.
 */
const markSchema = v.union([v.boolean(), v.object({ id: v.string(), at: v.number() })])

/** Whether the user is removed, or about to be. Such a user begins no session, and gets no code. */
export const isRemoved = async (kit: EndpointKit, sub: string): Promise<boolean> =>
  ((await kit.records.get(markOf(sub), markSchema)) ?? false) !== false

const idIn = (mark: v.InferOutput<typeof markSchema> | undefined) => (typeof mark === 'object' ? mark.id : undefined)

/** The number of attempts of a request whose mark another request removes before the decision. */
const maxTries = 3

/** Returns the result of a check. Calls a function first if the check fails or returns `false`. */
async function isAllowedOr(isStillAllowed: () => Promise<boolean>, otherwise: () => Promise<void>): Promise<boolean> {
  let isAllowed = false
  try {
    isAllowed = (await isStillAllowed()) === true
  } finally {
    if (!isAllowed) await otherwise()
  }
  return isAllowed
}

/**
 * Marks a user, and asks afterwards whether the removal is still allowed. The mark takes effect before this check, so
 * an act that follows the check already sees a removed user. If the removal is not allowed, removes the mark, and
 * ends what the request has begun.
 *
 * @param begin writes what a removal needs to continue. Called before the decision: another request that was refused
 * can have replaced and ended it
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
  for (let tries = 1; ; tries += 1) {
    const at = now()
    await kit.records.update(markOf(sub), markSchema, (present) =>
      present === true ? undefined : { value: { id, at }, expiresAt, ...keptRecord },
    )
    if (!(await isAllowedOr(isStillAllowed, takeAway))) return false
    await begin()
    let isDecided = false
    // Decides only by a recent check if the mark was removed since: another request that was just refused may have
    // replaced the mark.
    await kit.records.update(markOf(sub), markSchema, (present) => {
      isDecided = present === true || idIn(present) === id || now() - at <= judgedWithin
      return isDecided && present !== true ? { value: true, expiresAt, ...keptRecord } : undefined
    })
    if (isDecided) return true
    if (tries === maxTries) {
      await end()
      return false
    }
  }

  async function takeAway(): Promise<void> {
    let isTakenAway = false
    await kit.records.update(markOf(sub), markSchema, (present) => {
      isTakenAway = idIn(present) === id
      return isTakenAway ? { value: false, expiresAt: now() + 1, ...keptRecord } : undefined
    })
    // Ends only what this request has begun, not what another request of the user has.
    if (isTakenAway) await end()
  }
}

/** Whether the removal of a user was decided: it is complete, or waits for another attempt. */
export const isMarked = async ({ records }: EndpointKit, sub: string): Promise<boolean> =>
  (await records.get(markOf(sub), markSchema)) === true

/** Keeps the mark of a user who was removed. */
export const keepMark = ({ records, now }: EndpointKit, sub: string): Promise<unknown> =>
  records.put(markOf(sub), true, now() + markLifetime, keptRecord)

/** Takes away the mark of a user whom the host keeps. */
export const unmark = ({ records }: EndpointKit, sub: string): Promise<unknown> => records.delete(markOf(sub))

/**
 * Returns whether the removal of a user was decided. Removes a mark that waits for its decision for too long: its
 * process has died before it removed anything.
 */
export async function settleMark({ records, now }: EndpointKit, sub: string): Promise<'decided' | 'open' | 'given up'> {
  let state: 'decided' | 'open' | 'given up' = 'open'
  await records.update(markOf(sub), markSchema, (present) => {
    const isOver = typeof present === 'object' && present.at < now() - judgedWithin
    state = isOver ? 'given up' : present === true ? 'decided' : 'open'
    return isOver ? { value: false, expiresAt: now() + 1, ...keptRecord } : undefined
  })
  return state
}
