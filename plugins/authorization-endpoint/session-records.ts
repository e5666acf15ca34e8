import { configurationObject, type EndpointKit, type Kit, type Subject } from '@grantry/core'
import * as v from 'valibot'
import { wholeSeconds } from '../shared/config-schema.ts'
import { keptRecord } from '../shared/kept-record.ts'
import { type Standing, standingEntries, standingIn } from './standing.ts'

/** Seconds; a year. */
export const maxSessionLifetime = 31_536_000

const sessionCount = 'must be 1 to 1000 sessions'
const lifetime = wholeSeconds(10, maxSessionLifetime)

const staySchema = configurationObject({
  /**
   * `off`: sessions end when the browser is closed. `on`: no session does. `checkbox`: users decide when they sign in.
   * Default: `off`.
   */
  mode: v.optional(v.picklist(['off', 'on', 'checkbox'], 'must be off, on or checkbox'), 'off'),
  /** As for other sessions. Default: 2,592,000 (30 days). */
  idleLifetime: v.optional(lifetime, 2_592_000),
  /** As for other sessions. Default: 7,776,000 (90 days). */
  absoluteLifetime: v.optional(lifetime, 7_776_000),
})

export const sessionsSchema = configurationObject({
  /** Seconds without an authorization request after which a session ends. Default: 3600. */
  idleLifetime: v.optional(lifetime, 3600),
  /** Seconds after which a session ends in any case. Default: 36,000. */
  absoluteLifetime: v.optional(lifetime, 36_000),
  /** The sessions that a user can have, in all browsers. One more ends the one that was idle for the longest time. Default: 100. */
  maxPerUser: v.optional(
    v.pipe(
      v.number(sessionCount),
      v.integer(sessionCount),
      v.minValue(1, sessionCount),
      v.maxValue(1000, sessionCount),
    ),
    100,
  ),
  /** Sessions that outlive the browser. */
  staySignedIn: v.optional(staySchema, {}),
  /** `none`: sessions count also in frames of other sites. Requires an `https` issuer. Default: `lax`. */
  sameSite: v.optional(v.picklist(['lax', 'none'], 'must be lax or none'), 'lax'),
})

export type SessionOptions = Readonly<v.InferOutput<typeof sessionsSchema>>

/** Sessions that outlive the browser. */
export type StaySignedInOptions = SessionOptions['staySignedIn']

/** How long a session lives. */
export type Lifetimes = Pick<SessionOptions, 'idleLifetime' | 'absoluteLifetime'>

/** Returns the function that chooses the lifetimes of a session, by whether it was to outlive the browser. */
export const lifetimesWith =
  ({ staySignedIn, ...usual }: SessionOptions): ((stays: boolean) => Lifetimes) =>
  (stays) =>
    // An operator who turns it off does not wait for the sessions that are left.
    stays && staySignedIn.mode !== 'off' ? staySignedIn : usual

/** The browser of a session, as it was at the sign-in. Both come from a stranger. */
export interface SessionDevice {
  readonly userAgent?: string | undefined
  readonly address?: string | undefined
}

/** A user who is signed in, in one browser. */
export interface Session {
  /** The id of the session in identity tokens and logout tokens. Not a secret. */
  readonly sid: string
  readonly subject: Subject & { readonly authTime: number }
  /**
   * `false`: another provider has signed the user in, and has not stated when the user authenticated there. `authTime` is
   * then the time of its response, and never proves a recent authentication. Default: `true`.
   */
  readonly provesTime?: boolean | undefined
  /** How the user is shown to the user, such as the user name. */
  readonly name: string | undefined
  /** Epoch seconds. */
  readonly startedAt: number
  /** Epoch seconds. */
  readonly expiresAt: number
  /** The state of the user when the session began. */
  readonly standing: Standing
  /** Only if a feature describes sessions. */
  readonly device?: SessionDevice | undefined
}

const text = v.string()
const record = v.object({
  /** The SHA-256 of the secret in the cookie. */
  secret: text,
  sub: text,
  amr: v.array(text),
  authTime: v.number(),
  /** Absent: it does. */
  provesTime: v.exactOptional(v.literal(false)),
  idp: v.exactOptional(text),
  acr: v.exactOptional(text),
  name: v.exactOptional(text),
  startedAt: v.number(),
  expiresAt: v.number(),
  /** Whether it outlives the browser. */
  stays: v.exactOptional(v.literal(true)),
  device: v.exactOptional(v.object({ userAgent: v.exactOptional(text), address: v.exactOptional(text) })),
  ...standingEntries,
})

export type StoredSession = v.InferOutput<typeof record>

const used = v.object({ at: v.number() })

const keyOf = (sid: string): string => `session:${sid}`
const usedKeyOf = (sid: string): string => `used:${sid}`

export const sessionOf = (sid: string, { sub, amr, authTime, idp, acr, name, ...more }: StoredSession): Session => ({
  sid,
  subject: { sub, amr, authTime, ...(idp !== undefined && { idp }), ...(acr !== undefined && { acr }) },
  ...(more.provesTime === false && { provesTime: false }),
  name,
  startedAt: more.startedAt,
  expiresAt: more.expiresAt,
  standing: standingIn(more),
  ...(more.device !== undefined && { device: more.device }),
})

export const readSession = (kit: Pick<Kit, 'records'>, sid: string): Promise<StoredSession | undefined> =>
  kit.records.get(keyOf(sid), record)

/**
 * Returns a session, and the time of its last use. They are two records, so that noting a use cannot restore a session
 * that has just ended.
 */
export async function readWithUse(kit: EndpointKit, sid: string) {
  const [stored, lastUse] = await Promise.all([readSession(kit, sid), kit.records.get(usedKeyOf(sid), used)])
  return { stored, usedAt: lastUse?.at }
}

export const writeSession = (kit: EndpointKit, sid: string, stored: StoredSession): Promise<void> =>
  kit.records.put(keyOf(sid), stored, stored.expiresAt)

export const deleteSession = (kit: EndpointKit, sid: string): Promise<void> => kit.records.delete(keyOf(sid))
/**
 * Returns whether this call is the first that ends the session, since its user has signed in. A call that comes a minute
 * later finds no session.
 */
export const insertEnd = (kit: EndpointKit, { secret }: StoredSession): Promise<boolean> =>
  kit.records.insert(`ended:${secret}`, true, kit.now() + 60, keptRecord)
export const deleteUse = (kit: EndpointKit, sid: string): Promise<void> => kit.records.delete(usedKeyOf(sid))

/** Whether a session has ended because it was not used, or by its age. The current lifetimes count. */
export const isIdle = (
  { startedAt }: Pick<Session, 'startedAt'>,
  lastUse: number,
  { idleLifetime, absoluteLifetime }: Lifetimes,
  now: number,
): boolean => now >= lastUse + idleLifetime || now >= startedAt + absoluteLifetime

/** Notes a use of the session. Returns whether the last one was recent enough. */
export async function noteUse(
  session: Session,
  lastUse: number,
  lifetimes: Lifetimes,
  kit: EndpointKit,
): Promise<boolean> {
  const now = kit.now()
  // The current lifetimes also count for sessions that began with longer ones.
  if (isIdle(session, lastUse, lifetimes, now)) return false
  /** The minimum interval in seconds between two writes of the time of use. */
  const precision = Math.min(60, Math.ceil(lifetimes.idleLifetime / 10))
  if (now >= lastUse + precision) await kit.records.put(usedKeyOf(session.sid), { at: now }, session.expiresAt)
  return true
}
