import type { EndpointKit, Subject } from '@grantry/core'
import * as v from 'valibot'
import type { RefusalCode } from './refusal.ts'
import { isOutdated, type Standing, standingEntries, standingIn, standingOf } from './standing.ts'

const texts = v.array(v.string())

const schema = v.object({
  /** The SHA-256 of the ticket. */
  ticket: v.string(),
  refuse: v.exactOptional(v.string()),
  scopes: v.exactOptional(texts),
  name: v.exactOptional(v.string()),
  remember: v.exactOptional(v.boolean()),
  staySignedIn: v.exactOptional(v.boolean()),
  ...standingEntries,
  subject: v.exactOptional(
    v.object({
      sub: v.string(),
      amr: texts,
      authTime: v.number(),
      idp: v.exactOptional(v.string()),
      acr: v.exactOptional(v.string()),
    }),
  ),
})

/** What a login application elsewhere has decided. */
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

const keyOf = (id: string): string => `outcome:${id}`

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
  await kit.records.put(keyOf(id), JSON.parse(JSON.stringify(record)), expiresAt)
  return ticket
}

/**
 * Returns the decision, and deletes it: a ticket that arrives in another browser must not be used later. `undefined` also
 * if the user was revoked, or all sessions of the user have ended, since the decision.
 */
export async function takeOutcome(kit: EndpointKit, id: string, ticket: string): Promise<Outcome | undefined> {
  const found = await kit.records.get(keyOf(id), schema)
  if (found === undefined || !kit.equals(found.ticket, kit.sha256(ticket))) return undefined
  await kit.records.delete(keyOf(id))
  const { refuse, subject, name, scopes = [], remember, staySignedIn } = found
  if (subject !== undefined) {
    const standing = standingIn(found)
    const hasEnded = isOutdated(standing, await standingOf(kit, subject.sub))
    return hasEnded ? undefined : { subject, name, scopes, remember, staySignedIn, standing }
  }
  return refuse === undefined ? undefined : { refuse: refuse as RefusalCode }
}
