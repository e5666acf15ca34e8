import { configurationObject } from '@grantry/core'
import * as v from 'valibot'
import type { SameSite } from '../shared/browser-cookie.ts'
import { wholeSeconds } from '../shared/config-schema.ts'

/** How long a session lives. */
export interface Lifetimes {
  /** Seconds without an authorization request after which a session ends. Default: 3600. */
  readonly idleLifetime: number
  /** Seconds after which a session ends in any case. Default: 36,000. */
  readonly absoluteLifetime: number
}

/** Sessions that outlive the browser. */
export interface StaySignedInOptions {
  /**
   * `off`: sessions end when the browser is closed. `on`: no session does. `checkbox`: users decide when they sign in.
   * Default: `off`.
   */
  readonly mode: 'off' | 'on' | 'checkbox'
  /** As for other sessions. Default: 2,592,000 (30 days). */
  readonly idleLifetime: number
  /** As for other sessions. Default: 7,776,000 (90 days). */
  readonly absoluteLifetime: number
}

export interface SessionOptions extends Lifetimes {
  /** The sessions that a user can have. One more ends the one that was idle for the longest time. Default: 100. */
  readonly maxPerUser: number
  /** Keeps users signed in when the browser is closed. */
  readonly staySignedIn: StaySignedInOptions
  /** `none`: sessions also count in frames of other sites. Requires an `https` issuer. Default: `lax`. */
  readonly sameSite: SameSite
}

/** Seconds; a year. */
export const maxSessionLifetime = 31_536_000

const sessionCount = 'must be 1 to 1000 sessions'
const lifetime = wholeSeconds(10, maxSessionLifetime)

const staySchema = configurationObject({
  mode: v.optional(v.picklist(['off', 'on', 'checkbox'], 'must be off, on or checkbox'), 'off'),
  idleLifetime: v.optional(lifetime, 2_592_000),
  absoluteLifetime: v.optional(lifetime, 7_776_000),
})

export const sessionsSchema = configurationObject({
  /** Seconds after which a session without an authorization request ends. */
  idleLifetime: v.optional(lifetime, 3600),
  /** Seconds after which a session ends in any case. */
  absoluteLifetime: v.optional(lifetime, 36_000),
  /** The sessions that a user can have, in all browsers. */
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
  /** `none`: sessions count also in frames of other sites. */
  sameSite: v.optional(v.picklist(['lax', 'none'], 'must be lax or none'), 'lax'),
})

/** Returns the function that chooses the lifetimes of a session, by whether it was to outlive the browser. */
export const lifetimesWith =
  ({ staySignedIn, ...usual }: SessionOptions): ((stays: boolean) => Lifetimes) =>
  (stays) =>
    // An operator who turns it off does not wait for the sessions that are left.
    stays && staySignedIn.mode !== 'off' ? staySignedIn : usual
