import type { Client, EndpointKit } from '@grantry/core'
import * as v from 'valibot'
import { refused, type Session } from '../authorization-endpoint/authorization-endpoint.ts'
import { recordSet } from '../shared/record-set.ts'

/** A set has 32 members. A session with more clients uses further sets. */
const maxSets = 4

/** Seconds for which a request that has found the session can still be in progress when the session ends. */
const endedLifetime = 60

const endedKeyOf = (sid: string): string => `ended:${sid}`
/** The start of the session when its clients were last noted. Without it, the session has none. */
const notedKeyOf = (sid: string): string => `noted:${sid}`
const setAt = (kit: EndpointKit, sid: string, index: number) => recordSet(kit, `clients of ${sid} ${index}`)

async function clientsOf(kit: EndpointKit, sid: string): Promise<readonly string[]> {
  const found = new Set<string>()
  for (let index = 0; index < maxSets; index += 1) {
    const members = await setAt(kit, sid, index).list()
    for (const member of members) found.add(member)
    if (members.length < 32) break
  }
  return [...found]
}

async function add(kit: EndpointKit, { sid, expiresAt }: Session, clientId: string): Promise<void> {
  for (let index = 0; index < maxSets; index += 1) {
    if (await setAt(kit, sid, index).add(clientId, expiresAt)) return
  }
}

/** A user who signs in again keeps the session, so its clients are needed for longer. */
async function prolong(kit: EndpointKit, session: Session, noted: number): Promise<void> {
  const { sid, startedAt, expiresAt } = session
  if (noted === startedAt) return
  await Promise.all((await clientsOf(kit, sid)).map((one) => add(kit, session, one)))
  await kit.records.put(notedKeyOf(sid), startedAt, expiresAt)
}

/** The clients that have received a code in a session, and that receive logout tokens. */
export const recipients = {
  /** @throws OAuthError if the session ends at the same time: its client would miss the logout token. */
  async note(kit: EndpointKit, session: Session, { clientId }: Pick<Client, 'clientId'>, receives: boolean) {
    const { sid, startedAt, expiresAt } = session
    const noted = await kit.records.get(notedKeyOf(sid), v.number())
    if (noted !== undefined) await prolong(kit, session, noted)
    if (!receives) return
    if (noted === undefined) await kit.records.put(notedKeyOf(sid), startedAt, expiresAt)
    await add(kit, session, clientId)
    // Either this finds the mark, or `end` finds the client.
    if ((await kit.records.get(endedKeyOf(sid), v.boolean())) !== undefined) throw refused('login_required', kit.refuse)
  },

  /** Keeps the clients of a session for as long as the session. */
  async renew(kit: EndpointKit, session: Session): Promise<void> {
    const noted = await kit.records.get(notedKeyOf(session.sid), v.number())
    if (noted !== undefined) await prolong(kit, session, noted)
  },

  /** Returns the clients of a session. No further client can be noted. */
  async end(kit: EndpointKit, sid: string): Promise<readonly string[]> {
    await kit.records.put(endedKeyOf(sid), true, kit.now() + endedLifetime)
    return (await kit.records.get(notedKeyOf(sid), v.number())) === undefined ? [] : clientsOf(kit, sid)
  },

  /** Undoes `end`. */
  reopen: (kit: EndpointKit, sid: string): Promise<void> => kit.records.delete(endedKeyOf(sid)),
}
