import type { EndpointKit, EndpointRequest, Subject } from '@grantry/core'
import * as v from 'valibot'
import { browserCookie } from '../shared/browser-cookie.ts'
import { recordSet } from '../shared/record-set.ts'
import { type Lifetimes, lifetimesWith, maxSessionLifetime, type SessionOptions } from './session-options.ts'
import { endStanding, isOutdated, type Standing, standingEntries, standingIn, standingOf } from './standing.ts'

/** A user who is signed in, in one browser. */
export interface Session {
  /** The id of the session in identity tokens and logout tokens. Not a secret. */
  readonly sid: string
  readonly subject: Subject & { readonly authTime: number }
  /** How the user is shown to the user, such as the user name. */
  readonly name: string | undefined
  /** Epoch seconds. */
  readonly startedAt: number
  /** Epoch seconds. */
  readonly expiresAt: number
  /** The state of the user when the session began. */
  readonly standing: Standing
}

/** A user who has just signed in. */
export interface SignedInUser {
  readonly subject: Subject
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

/** Called before a session ends; the function that it returns, afterwards. Not called when a session expires. */
export type SessionListener = (kit: EndpointKit, session: Session) => Promise<(() => Promise<void>) | undefined>

/** What features of the endpoint know about sessions. */
export interface SessionListeners {
  readonly onSessionEnd?: SessionListener | undefined
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
  /** The sessions of a user. */
  list(kit: EndpointKit, sub: string): Promise<readonly Session[]>
  /** The `Set-Cookie` that removes the session from the browser. */
  clearCookie(kit: EndpointKit): string
}

const text = v.string()
const record = v.object({
  /** The SHA-256 of the secret in the cookie. */
  secret: text,
  sub: text,
  amr: v.array(text),
  authTime: v.number(),
  idp: v.optional(text),
  acr: v.optional(text),
  name: v.optional(text),
  startedAt: v.number(),
  expiresAt: v.number(),
  /** Whether it outlives the browser. */
  stays: v.exactOptional(v.literal(true)),
  ...standingEntries,
})
const used = v.object({ at: v.number() })

/** The id and the secret: each has 256 random bits. */
const cookieForm = /^[\w-]{43}\.[\w-]{43}$/u

const keyOf = (sid: string): string => `session:${sid}`
const usedKeyOf = (sid: string): string => `used:${sid}`
const sessionOf = (
  sid: string,
  { sub, amr, authTime, idp, acr, name, ...more }: v.InferOutput<typeof record>,
): Session => ({
  sid,
  subject: { sub, amr, authTime, ...(idp !== undefined && { idp }), ...(acr !== undefined && { acr }) },
  name,
  startedAt: more.startedAt,
  expiresAt: more.expiresAt,
  standing: standingIn(more),
})

export function createSessions(options: SessionOptions, features: readonly SessionListeners[]): Sessions {
  const { maxPerUser, staySignedIn } = options
  const asksToStay = staySignedIn.mode === 'checkbox'
  const lifetimesOf = lifetimesWith(options)
  const cookieOf = browserCookie('grantry-session', cookieForm, options.sameSite)
  const setOf = (kit: EndpointKit, sub: string) => recordSet(kit, `sessions of ${sub}`, maxPerUser)

  /** Notes a use of the session. Returns whether the last one was recent enough. */
  async function use(
    { sid, startedAt, expiresAt }: Session,
    lastUse: number,
    { idleLifetime, absoluteLifetime }: Lifetimes,
    kit: EndpointKit,
  ): Promise<boolean> {
    const now = kit.now()
    // The current lifetimes also count for sessions that began with longer ones.
    if (now >= lastUse + idleLifetime || now >= startedAt + absoluteLifetime) return false
    /** The time of use is stored this seldom (seconds). */
    const precision = Math.min(60, Math.ceil(idleLifetime / 10))
    if (now >= lastUse + precision) await kit.records.put(usedKeyOf(sid), { at: now }, expiresAt)
    return true
  }

  /** Returns the session that was idle for the longest time. One that no longer exists comes first. */
  async function mostIdle(kit: EndpointKit, sids: readonly string[]): Promise<string | undefined> {
    const times = await Promise.all(
      sids.map(async (sid) => {
        const [found, lastUse] = await Promise.all([
          kit.records.get(keyOf(sid), record),
          kit.records.get(usedKeyOf(sid), used),
        ])
        return { sid, at: found === undefined ? 0 : (lastUse?.at ?? found.startedAt) }
      }),
    )
    return times.sort((one, other) => one.at - other.at)[0]?.sid
  }

  /** Adds a session to those of its user. Concurrent sign-ins can take the place that was made; hence the tries. */
  async function addTo(kit: EndpointKit, sub: string, sid: string, expiresAt: number): Promise<void> {
    const set = setOf(kit, sub)
    for (let tries = 0; tries < 5 && !(await set.add(sid, expiresAt)); tries += 1) {
      const oldest = await mostIdle(kit, await set.list())
      if (oldest === undefined) continue
      await sessions.end(kit, oldest)
      await set.remove(oldest)
    }
  }

  const sessions: Sessions = {
    asksToStay,

    async find(kit, request) {
      const [sid, secret] = cookieOf(kit).read(request)?.split('.') ?? []
      if (sid === undefined || secret === undefined) return undefined
      // Two records, so that noting a use cannot restore a session that has just ended.
      const [found, lastUse] = await Promise.all([
        kit.records.get(keyOf(sid), record),
        kit.records.get(usedKeyOf(sid), used),
      ])
      if (found === undefined || !kit.equals(found.secret, kit.sha256(secret))) return undefined
      if (isOutdated(found, await standingOf(kit, found.sub))) return undefined
      const session = sessionOf(sid, found)
      // A later sign-in in the same session is a use.
      const at = Math.max(lastUse?.at ?? 0, session.startedAt)
      return (await use(session, at, lifetimesOf(found.stays === true), kit)) ? session : undefined
    },

    async start(kit, { subject, name, standing, staySignedIn: isAsked = false }, request) {
      const [earlier, carried] = await Promise.all([
        sessions.find(kit, request),
        standing ?? standingOf(kit, subject.sub),
      ])
      const sid = earlier?.subject.sub === subject.sub ? earlier.sid : kit.randomId()
      const secret = kit.randomId()
      const now = kit.now()
      const stays = staySignedIn.mode === 'on' || (asksToStay && isAsked)
      const { absoluteLifetime } = lifetimesOf(stays)
      const { sub, amr, authTime = now, idp, acr } = subject
      const stored = {
        secret: kit.sha256(secret),
        sub,
        amr: [...amr],
        authTime,
        ...(idp !== undefined && { idp }),
        ...(acr !== undefined && { acr }),
        ...(name !== undefined && { name }),
        startedAt: now,
        expiresAt: now + absoluteLifetime,
        ...(stays && ({ stays } as const)),
        ...standingIn(carried),
      }
      const session = sessionOf(sid, stored)
      const isRenewed = earlier?.sid === sid
      // Before, so that what belongs to a session never ends earlier, also if this process dies.
      if (isRenewed) await Promise.all(features.map(({ onSessionRenewed }) => onSessionRenewed?.(kit, session)))
      await kit.records.put(keyOf(sid), stored, stored.expiresAt)
      if (earlier !== undefined && !isRenewed) await sessions.end(kit, earlier.sid)
      await addTo(kit, sub, sid, stored.expiresAt)
      kit.recordUser({ type: 'session_started', sid, amr: [...amr] }, { sub, clientAddress: request.clientAddress })
      const cookie = cookieOf(kit).write(`${sid}.${secret}`, stays ? absoluteLifetime : undefined)
      return { session, cookies: [cookie] }
    },

    async end(kit, sid) {
      const found = await kit.records.get(keyOf(sid), record)
      if (found === undefined) return undefined
      const session = sessionOf(sid, found)
      // Before, so that what must follow is stored if this process dies.
      const following = await Promise.all(features.map(({ onSessionEnd }) => onSessionEnd?.(kit, session)))
      await kit.records.delete(keyOf(sid))
      await Promise.all([setOf(kit, found.sub).remove(sid), kit.records.delete(usedKeyOf(sid))])
      await Promise.all(following.map((follow) => follow?.()))
      kit.recordUser({ type: 'session_ended', sid }, { sub: found.sub })
      return session
    },

    async endAll(kit, sub) {
      // The set can miss sessions of a thief who signs in often at the same moment.
      await endStanding(kit, sub, maxSessionLifetime)
      const sids = await setOf(kit, sub).list()
      const ended = await Promise.all(sids.map((sid) => sessions.end(kit, sid)))
      return ended.filter((session) => session !== undefined).length
    },

    async list(kit, sub) {
      const [sids, standing] = await Promise.all([setOf(kit, sub).list(), standingOf(kit, sub)])
      const records = await Promise.all(
        sids.map(async (sid) => ({ sid, found: await kit.records.get(keyOf(sid), record) })),
      )
      return records.flatMap(({ sid, found }) =>
        found === undefined || isOutdated(found, standing) ? [] : [sessionOf(sid, found)],
      )
    },

    clearCookie: (kit) => cookieOf(kit).clear(),
  }
  return sessions
}
