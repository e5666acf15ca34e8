import type { EndpointKit } from '@grantry/core'
import type { RecordSet } from '../shared/record-set.ts'
import { readWithUse, type Session } from './session-records.ts'

/** How often a session tries to get a place among those of its user. */
const maxTries = 10

/** Returns the sessions that were idle for the longest time, first those that no longer exist. */
async function mostIdle(kit: EndpointKit, sids: readonly string[]): Promise<readonly string[]> {
  const times = await Promise.all(
    sids.map(async (sid) => {
      const { stored, usedAt } = await readWithUse(kit, sid)
      return { sid, at: stored === undefined ? 0 : (usedAt ?? stored.startedAt) }
    }),
  )
  return times
    .sort((left, right) => left.at - right.at)
    .slice(0, 3)
    .map(({ sid }) => sid)
}

/**
 * Adds a session to those of its user, or extends its life among them. If there is no place, ends the session that
 * was idle for the longest time; if a concurrent sign-in ends that one, the next.
 *
 * @returns whether it has a place
 */
export async function place(
  set: RecordSet,
  { sid, expiresAt }: Session,
  isRenewed: boolean,
  kit: EndpointKit,
  end: (kit: EndpointKit, sid: string) => Promise<unknown>,
): Promise<boolean> {
  for (let tries = 0; tries < maxTries; tries += 1) {
    if (isRenewed && (await set.extend(sid, expiresAt))) return true
    if (await set.insert(sid, expiresAt)) return true
    const sids = await set.list()
    // A session must not end itself. A concurrent sign-in extends or ends it.
    if (sids.includes(sid)) continue
    for (const idle of await mostIdle(kit, sids)) {
      if (await set.replace(idle, sid, expiresAt, () => end(kit, idle))) return true
    }
  }
  return false
}
