import { type EndpointKit, type EndpointRequest, isOAuthError, type Subject } from '@grantry/core'
import * as v from 'valibot'
import { browserCookie, type SameSite } from '../shared/browser-cookie.ts'
import { clockSkew } from '../shared/jwt-claims.ts'
import { keptRecord } from '../shared/kept-record.ts'
import { storeWaiting } from '../shared/known-sites.ts'
import { idForm, usedKeyOf } from './answered.ts'
import type { Suspension } from './interaction.ts'
import type { RefusalCode } from './refusal.ts'
import { assertShown, noPageShown } from './shown-page.ts'
import { isOutdated, type Standing, standingEntries, standingIn, standingOf } from './standing.ts'

const texts = v.record(v.string(), v.string())

const schema = v.object({
  params: texts,
  /** The SHA-256 of the secret of the browser. */
  browser: v.string(),
  startedAt: v.number(),
  expiresAt: v.number(),
  /** The `request_uri` of a pushed request. */
  pushed: v.exactOptional(v.string()),
  /** The epoch of the client when it pushed the request. */
  clientEpoch: v.exactOptional(v.string()),
  confirmation: v.exactOptional(texts),
  progress: v.object({ signedIn: v.exactOptional(v.string()), chosen: v.exactOptional(v.string()) }),
})

/** A suspended request, as it is stored. */
export type SuspendedRecord = v.InferOutput<typeof schema>

const keyOf = (id: string): string => `interaction:${id}`

/** Returns why a request is unknown. A browser that keeps no cookies never finds one. */
export const unknownReason = (http: EndpointRequest): 'cookies_missing' | 'interaction_unknown' =>
  (http.header('cookie') ?? '') === '' ? 'cookies_missing' : 'interaction_unknown'

/** Seconds from now until which a request can be extended. */
export const maxExtension = 1800

/** Keeps authorization requests while their users are busy. A request belongs to the browser that sent it. */
export interface SuspendedRequests {
  /**
   * Returns the suspension, and the cookies for the reply.
   *
   * @throws OAuthError when too many requests are waiting, or the browser would not show a page.
   */
  store(
    kit: EndpointKit,
    http: EndpointRequest,
    request: Omit<SuspendedRecord, 'browser'>,
  ): Promise<{ readonly suspension: Suspension; readonly cookies: readonly string[] }>
  /** Returns `undefined` if it is unknown, has expired, was used, or belongs to another browser. */
  find(kit: EndpointKit, http: EndpointRequest, id: string): Promise<SuspendedRecord | undefined>
  /** Finds a request without its browser. Answer it only if its browser returns. */
  peek(kit: EndpointKit, id: string): Promise<SuspendedRecord | undefined>
  update(kit: EndpointKit, id: string, request: SuspendedRecord): Promise<void>
  /** Ends the request. Returns `false` if it has ended before. */
  use(kit: EndpointKit, id: string, request: SuspendedRecord): Promise<boolean>
}

/** The reasons for which a request is not stored. The name of the plugin precedes its own. */
const notStored = ['too_many_waiting_requests', noPageShown]

/** Whether a request was not stored. A client that received this refusal would begin again immediately. */
export const isNotStored = (error: unknown): boolean =>
  isOAuthError(error) && notStored.some((reason) => `:${error.details.reason}`.endsWith(`:${reason}`))

/** @param sameSite of the cookie of the browser */
export function createSuspendedRequests(sameSite: SameSite = 'lax'): SuspendedRequests {
  const cookieOf = browserCookie('grantry-browser', idForm, sameSite)
  return {
    async store(kit, http, request) {
      assertShown(http, sameSite, kit.refuse)
      const id = kit.randomId()
      const known = cookieOf(kit).read(http)
      const secret = known ?? kit.randomId()
      const { expiresAt } = request
      const suspension = { id, browser: kit.sha256(secret), expiresAt }
      const value = { ...request, browser: suspension.browser }
      await storeWaiting(kit, http, {
        value,
        store: () => kit.records.put(keyOf(id), value, expiresAt),
        remove: () => kit.records.delete(keyOf(id)),
      })
      return { suspension, cookies: known === undefined ? [cookieOf(kit).write(secret)] : [] }
    },

    async find(kit, http, id) {
      const browser = cookieOf(kit).read(http)
      if (browser === undefined || !idForm.test(id)) return undefined
      const record = await kit.records.get(keyOf(id), schema)
      return record !== undefined && kit.equals(record.browser, kit.sha256(browser)) ? record : undefined
    },

    peek: async (kit, id) => (idForm.test(id) ? kit.records.get(keyOf(id), schema) : undefined),

    update: (kit, id, request) => kit.records.put(keyOf(id), request, request.expiresAt),

    async use(kit, id, { expiresAt, params }) {
      // An insert, because only that is atomic across processes. Another call that has found the request can be in
      // progress after its end, and extend it.
      const end = Math.max(expiresAt, kit.now() + maxExtension)
      const isFirst = await kit.records.insert(usedKeyOf(id), params.client_id ?? true, end + clockSkew, keptRecord)
      if (isFirst) await kit.records.delete(keyOf(id))
      return isFirst
    },
  }
}

const outcomeSchema = v.object({
  /** The SHA-256 of the ticket. */
  ticket: v.string(),
  refuse: v.exactOptional(v.string()),
  scopes: v.exactOptional(v.array(v.string())),
  name: v.exactOptional(v.string()),
  remember: v.exactOptional(v.boolean()),
  staySignedIn: v.exactOptional(v.boolean()),
  ...standingEntries,
  subject: v.exactOptional(
    v.object({
      sub: v.string(),
      amr: v.array(v.string()),
      authTime: v.number(),
      idp: v.exactOptional(v.string()),
      acr: v.exactOptional(v.string()),
    }),
  ),
})

/** The decision of a login application on another host. */
export type Outcome =
  | { readonly refuse: RefusalCode }
  | {
      readonly subject: Subject
      readonly name: string | undefined
      readonly scopes: readonly string[]
      readonly remember: boolean | undefined
      readonly staySignedIn: boolean | undefined
      readonly standing: Standing
    }

const outcomeKeyOf = (id: string): string => `outcome:${id}`

/**
 * Stores a decision until the browser returns. Only the holder of the ticket can use it: the browser that has just
 * signed in. The id alone does not suffice, because it is known to the browser that began the request, which can be
 * another one.
 *
 * @returns the ticket
 */
export async function storeOutcome(kit: EndpointKit, id: string, outcome: Outcome, expiresAt: number): Promise<string> {
  const ticket = kit.randomId()
  const { standing, ...decided } = 'subject' in outcome ? outcome : { ...outcome, standing: {} }
  const record = { ...decided, ...standingIn(standing), ticket: kit.sha256(ticket) }
  // JSON, because a subject of JavaScript may have members that are `undefined`.
  await kit.records.put(outcomeKeyOf(id), JSON.parse(JSON.stringify(record)), expiresAt)
  return ticket
}

/**
 * Returns the decision, and deletes it: a ticket that arrives in another browser must not be used later. `undefined` also
 * if the user was revoked, or all sessions of the user have ended, since the decision.
 */
export async function takeOutcome(kit: EndpointKit, id: string, ticket: string): Promise<Outcome | undefined> {
  const record = await kit.records.get(outcomeKeyOf(id), outcomeSchema)
  if (record === undefined || !kit.equals(record.ticket, kit.sha256(ticket))) return undefined
  await kit.records.delete(outcomeKeyOf(id))
  const { refuse, subject, name, scopes = [], remember, staySignedIn } = record
  if (subject !== undefined) {
    const standing = standingIn(record)
    const hasEnded = isOutdated(standing, await standingOf(kit, subject.sub))
    return hasEnded ? undefined : { subject, name, scopes, remember, staySignedIn, standing }
  }
  return refuse === undefined ? undefined : { refuse: refuse as RefusalCode }
}
