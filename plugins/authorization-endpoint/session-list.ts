import type { EndpointKit, EndpointRequest } from '@grantry/core'
import { isIdle, type Lifetimes, readWithUse, type Session, sessionOf } from './session-records.ts'
import { isOutdated, standingOf } from './standing.ts'

/** A session, and the time of its last use (epoch seconds; precise to a minute). */
export interface UsedSession extends Session {
  readonly usedAt: number
}

/** Returns those of the sessions that still count. */
export async function sessionsWithUse(
  sids: readonly string[],
  kit: EndpointKit,
  sub: string,
  lifetimesOf: (stays: boolean) => Lifetimes,
): Promise<readonly UsedSession[]> {
  const standing = await standingOf(kit, sub)
  const records = await Promise.all(sids.map(async (sid) => ({ sid, ...(await readWithUse(kit, sid)) })))
  return records.flatMap(({ sid, stored, usedAt: noted = 0 }) => {
    if (stored === undefined || isOutdated(stored, standing)) return []
    const session = sessionOf(sid, stored)
    // A later sign-in in the same session is a use.
    const usedAt = Math.max(noted, session.startedAt)
    return isIdle(session, usedAt, lifetimesOf(stored.stays === true), kit.now()) ? [] : [{ ...session, usedAt }]
  })
}

/** Characters of a `User-Agent` that are stored. */
const maxUserAgent = 256

/** Returns what is stored of the browser. */
export function deviceOf({ header, clientAddress }: Pick<EndpointRequest, 'header' | 'clientAddress'>) {
  const userAgent = header('user-agent')?.slice(0, maxUserAgent)
  return {
    device: {
      ...(userAgent !== undefined && { userAgent }),
      ...(clientAddress !== undefined && { address: clientAddress }),
    },
  }
}
