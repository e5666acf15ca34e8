import type { EndpointKit, EndpointRequest, Subject } from '@grantry/core'
import { browserCookie } from '../shared/browser-cookie.ts'
import { rememberSite } from '../shared/known-sites.ts'
import { type RecordSet, recordSet } from '../shared/record-set.ts'
import { deviceOf, sessionsWithUse, type UsedSession } from './session-list.ts'
import { place } from './session-places.ts'
import {
  deleteSession,
  deleteUse,
  insertEnd,
  lifetimesWith,
  maxSessionLifetime,
  noteUse,
  readSession,
  readWithUse,
  type Session,
  type SessionOptions,
  type StoredSession,
  sessionOf,
  writeSession,
} from './session-records.ts'
import { endStanding, isOutdated, renewStanding, type Standing, standingIn, standingOf } from './standing.ts'

export type { Session, SessionDevice } from './session-records.ts'

/** A user who has just signed in. */
export interface SignedInUser {
  readonly subject: Subject
  /** Whether `authTime` is known to be when the user authenticated, and not only when a provider responded. Default: `true`. */
  readonly provesTime?: boolean | undefined
  readonly name?: string | undefined
  /** The state of the user at the authentication, if that was earlier. A session with an outdated one never counts. */
  readonly standing?: Standing | undefined
  /** Whether the user has asked to stay signed in. Counts only in the mode `checkbox`. Default: `false`. */
  readonly staySignedIn?: boolean | undefined
}

/** A session that has just begun, and the cookies for the reply. */
export interface StartedSession {
  readonly session: Session
  readonly cookies: readonly string[]
}

/**
 * Called before a session ends. The function that it returns is called afterwards. Not called when a session expires.
 */
export type SessionListener = (kit: EndpointKit, session: Session) => Promise<(() => Promise<void>) | undefined>

/** The functions and settings of a feature that concern sessions. */
export interface SessionListeners {
  /** Whether sessions are stored with the browser and the address of the sign-in, to be shown to users. */
  readonly describesSessions?: boolean | undefined
  readonly onSessionEnd?: SessionListener | undefined
  /**
   * Whether a session of the user may last. Called after each new session was stored, so that either this function or the
   * one that ends all sessions of the user knows of the other.
   */
  readonly mayLast?: ((kit: EndpointKit, sub: string) => Promise<boolean>) | undefined
  /** Called before a session continues with a later end, because its user has signed in again. */
  readonly onSessionRenewed?: ((kit: EndpointKit, session: Session) => Promise<void>) | undefined
}

/** The sessions of all browsers. They are stored, so that every process knows them and can end them. */
export interface Sessions {
  /** Whether the sign-in asks users if they want to stay signed in. */
  readonly asksToStay: boolean
  /** Returns the session of the browser that sent the request, unless the user was revoked since. */
  find(kit: EndpointKit, request: EndpointRequest): Promise<Session | undefined>
  /**
   * Begins a session. A cookie that was known before the sign-in is never valid after it. An earlier session of another
   * user ends; one of the same user keeps its `sid`.
   */
  start(kit: EndpointKit, user: SignedInUser, request: EndpointRequest): Promise<StartedSession>
  /** Ends a session. Returns it if it existed. */
  end(kit: EndpointKit, sid: string): Promise<Session | undefined>
  /**
   * Ends all sessions of a user, and returns their number. It also counts those that a revocation of the user has ended:
   * their clients are not informed yet.
   */
  endAll(kit: EndpointKit, sub: string): Promise<number>
  /**
   * Revokes a user and ends all sessions, unless another call has done so since the user had this state. Returns the new
   * state, with which a session can begin; `undefined` if another call has come first.
   */
  renewStanding(kit: EndpointKit, sub: string, standing: Standing): Promise<Standing | undefined>
  /** The sessions of a user, with the time of their last use (epoch seconds; precise to a minute). */
  listWithUse(kit: EndpointKit, sub: string): Promise<readonly UsedSession[]>
  /** The sessions of a user. */
  list(kit: EndpointKit, sub: string): Promise<readonly Session[]>
  /** The `Set-Cookie` that removes the session from the browser. */
  clearCookie(kit: EndpointKit): string
}

/** The id and the secret: each has 256 random bits. */
const cookieForm = /^[\w-]{43}\.[\w-]{43}$/u

type End = Sessions['end']
type SetOf = (kit: EndpointKit, sub: string) => RecordSet

const endWith =
  (features: readonly SessionListeners[], setOf: SetOf): End =>
  async (kit, sid) => {
    const stored = await readSession(kit, sid)
    if (stored === undefined) return undefined
    const session = sessionOf(sid, stored)
    // Called before the end, so that the work that must follow is stored if this process dies.
    const following = await Promise.all(features.map(({ onSessionEnd }) => onSessionEnd?.(kit, session)))
    await deleteSession(kit, sid)
    const ending = [insertEnd(kit, stored), setOf(kit, stored.sub).remove(sid), deleteUse(kit, sid)] as const
    const [isFirst] = await Promise.all(ending)
    await Promise.all(following.map((follow) => follow?.()))
    // Concurrent calls find the session too.
    if (isFirst) kit.recordUser({ type: 'session_ended', sid }, { sub: stored.sub })
    return session
  }

/** Returns the functions that end all sessions of a user. */
function endsOf(setOf: SetOf, end: End): Pick<Sessions, 'endAll' | 'renewStanding'> {
  async function endListed(kit: EndpointKit, sub: string): Promise<number> {
    const sids = await setOf(kit, sub).list()
    const ended = await Promise.all(sids.map((sid) => end(kit, sid)))
    return ended.filter((session) => session !== undefined).length
  }

  // Ends the standing first: this also ends sessions that begin at the same moment, and are added to the set only
  // afterwards.
  return {
    async endAll(kit, sub) {
      await endStanding(kit, sub, maxSessionLifetime)
      return endListed(kit, sub)
    },
    async renewStanding(kit, sub, standing) {
      const renewed = await renewStanding(kit, sub, standing, maxSessionLifetime)
      if (renewed !== undefined) await endListed(kit, sub)
      return renewed
    },
  }
}

/** Returns what is stored of a session that begins now, without its secret. */
function beginningOf({ subject, name, provesTime = true }: SignedInUser, standing: Standing, now: number) {
  const { sub, amr, authTime = now, idp, acr } = subject
  return {
    sub,
    amr: [...amr],
    authTime,
    ...(!provesTime && ({ provesTime } as const)),
    ...(idp !== undefined && { idp }),
    ...(acr !== undefined && { acr }),
    ...(name !== undefined && { name }),
    startedAt: now,
    ...standingIn(standing),
  }
}

/** Whether all features let a new session last. */
async function mayLast(features: readonly SessionListeners[], kit: EndpointKit, sub: string): Promise<boolean> {
  for (const feature of features) if ((await feature.mayLast?.(kit, sub)) === false) return false
  return true
}

export function createSessions(options: SessionOptions, features: readonly SessionListeners[]): Sessions {
  const { maxPerUser, staySignedIn } = options
  const asksToStay = staySignedIn.mode === 'checkbox'
  const lifetimesOf = lifetimesWith(options)
  const cookieOf = browserCookie('grantry-session', cookieForm, options.sameSite)
  const setOf: SetOf = (kit, sub) => recordSet(kit, `sessions of ${sub}`, maxPerUser)
  const end = endWith(features, setOf)

  async function find(kit: EndpointKit, request: EndpointRequest): Promise<Session | undefined> {
    const [sid, secret] = cookieOf(kit).read(request)?.split('.') ?? []
    if (sid === undefined || secret === undefined) return undefined
    const { stored, usedAt = 0 } = await readWithUse(kit, sid)
    if (stored === undefined || !kit.equals(stored.secret, kit.sha256(secret))) return undefined
    if (isOutdated(stored, await standingOf(kit, stored.sub))) return undefined
    const session = sessionOf(sid, stored)
    // A later sign-in in the same session is a use.
    const lastUse = Math.max(usedAt, session.startedAt)
    return (await noteUse(session, lastUse, lifetimesOf(stored.stays === true), kit)) ? session : undefined
  }

  /** Stores a session, and returns whether it has a place. Its earlier one, in the same browser, continues or ends. */
  async function store(sid: string, stored: StoredSession, earlier: Session | undefined, kit: EndpointKit) {
    const session = sessionOf(sid, stored)
    const isRenewed = earlier?.sid === sid
    // Called before the session is stored, so that the records of features never end before it, even if this process
    // dies.
    if (isRenewed) await Promise.all(features.map(({ onSessionRenewed }) => onSessionRenewed?.(kit, session)))
    await writeSession(kit, sid, stored)
    if (earlier !== undefined && !isRenewed) await end(kit, earlier.sid)
    return place(setOf(kit, stored.sub), session, isRenewed, kit, end)
  }

  return {
    asksToStay,
    find,
    end,
    ...endsOf(setOf, end),

    async start(kit, user, request) {
      const { sub, amr } = user.subject
      const [earlier, standing] = await Promise.all([find(kit, request), user.standing ?? standingOf(kit, sub)])
      const sid = earlier?.subject.sub === sub ? earlier.sid : kit.randomId()
      const secret = kit.randomId()
      const stays = staySignedIn.mode === 'on' || (asksToStay && user.staySignedIn === true)
      const { absoluteLifetime } = lifetimesOf(stays)
      const beginning = beginningOf(user, standing, kit.now())
      const stored = {
        ...beginning,
        secret: kit.sha256(secret),
        expiresAt: beginning.startedAt + absoluteLifetime,
        ...(stays && ({ stays } as const)),
        ...(features.some(({ describesSessions }) => describesSessions) && deviceOf(request)),
      }
      const storing = store(sid, stored, earlier, kit)
      const [hasPlace] = await Promise.all([storing, rememberSite(request.clientAddress, kit)])
      kit.recordUser({ type: 'session_started', sid, amr: [...amr] }, { sub, clientAddress: request.clientAddress })
      // Later sign-ins have taken all places. It would exceed the limit, and be in no list.
      if (!hasPlace || !(await mayLast(features, kit, sub))) await end(kit, sid)
      const cookie = cookieOf(kit).write(`${sid}.${secret}`, stays ? absoluteLifetime : undefined)
      return { session: sessionOf(sid, stored), cookies: [cookie] }
    },

    listWithUse: async (kit, sub) => sessionsWithUse(await setOf(kit, sub).list(), kit, sub, lifetimesOf),

    async list(kit, sub) {
      const [sids, standing] = await Promise.all([setOf(kit, sub).list(), standingOf(kit, sub)])
      const records = await Promise.all(sids.map(async (sid) => ({ sid, stored: await readSession(kit, sid) })))
      return records.flatMap(({ sid, stored }) =>
        stored === undefined || isOutdated(stored, standing) ? [] : [sessionOf(sid, stored)],
      )
    },

    clearCookie: (kit) => cookieOf(kit).clear(),
  }
}
