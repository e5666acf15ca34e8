import type { Client, EndpointKit } from '@grantry/core'
import * as v from 'valibot'
import { refused, type Session } from '../authorization-endpoint/authorization-endpoint.ts'
import { recordSet } from '../shared/record-set.ts'

/** The maximum number of clients of a session that receive logout tokens. */
const maxClients = 128

/** Seconds for which a request that has found the session can still be in progress when the session ends. */
const endedLifetime = 60

const endedKeyOf = (sid: string): string => `ended:${sid}`
/** The start of the session when its clients were last noted. Without it, the session has none. */
const notedKeyOf = (sid: string): string => `noted:${sid}`
const setOf = (kit: EndpointKit, sid: string) => recordSet(kit, `clients of ${sid}`, maxClients)

/** A user who signs in again keeps the session, so its clients are needed for longer. */
async function prolong(kit: EndpointKit, session: Session, noted: number): Promise<void> {
  const { sid, startedAt, expiresAt } = session
  if (noted === startedAt) return
  await setOf(kit, sid).extendAll(expiresAt)
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
    await setOf(kit, sid).add(clientId, expiresAt)
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
    return (await kit.records.get(notedKeyOf(sid), v.number())) === undefined ? [] : setOf(kit, sid).list()
  },

  /** Undoes `end`. */
  reopen: (kit: EndpointKit, sid: string): Promise<void> => kit.records.delete(endedKeyOf(sid)),
}
