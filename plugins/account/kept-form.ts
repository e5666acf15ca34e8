import type { Reply } from '@grantry/core'
import * as v from 'valibot'
import type { AccountServices, ChangePage, Fields } from './services.ts'
import { formTokenFor, nameIn, urlOf, type Visit } from './visit.ts'

/** Seconds in which the user can sign in again, and as many in which the user can confirm the form afterwards. */
export const keptLifetime = 600

const schema = v.object({
  keptForm: v.string(),
  sub: v.string(),
  sid: v.string(),
  fields: v.record(v.string(), v.string()),
})

/** A user who signs in again in the same browser continues the session. Another browser never has its id. */
const keyOf = ({ session, kit }: Visit): string => `kept form:${kit.sha256(session.sid)}`

const seal = (fields: Fields, { path, session, kit }: Visit, expiresAt: number): Promise<string> =>
  kit.seal({ keptForm: path, sub: session.subject.sub, sid: session.sid, fields }, expiresAt)

async function open(kept: string, { path, session, kit }: Visit): Promise<Fields | undefined> {
  const form = await kit.unseal(kept, schema)
  const isOwn = form?.keptForm === path && form.sub === session.subject.sub && form.sid === session.sid
  return isOwn ? form.fields : undefined
}

/** Returns the fields of a form. One that was kept, and is confirmed, contains them; `undefined` if that has expired. */
export const fieldsIn = async (fields: Fields, visit: Visit): Promise<Fields | undefined> =>
  fields.kept === undefined ? fields : open(fields.kept, visit)

/**
 * Keeps a permitted form until its user has signed in again: a device has already stored the passkey in it, an app its
 * secret, or a password manager the password. Encrypted, one for a session.
 */
export async function keepForm(sent: Fields, visit: Visit): Promise<void> {
  const { kit } = visit
  const fields = await fieldsIn(sent, visit)
  if (fields === undefined) return
  const expiresAt = kit.now() + keptLifetime
  await kit.records.put(keyOf(visit), await seal(fields, visit, expiresAt), expiresAt)
}

/**
 * Returns the page that asks whether to send a form that was kept, once. Not sent by itself: a stranger at the device can
 * have filled it in, and left the sign-in to its user.
 */
export async function keptPage(
  visit: Visit,
  { keeps }: ChangePage,
  { pages }: AccountServices,
): Promise<Reply | undefined> {
  const { kit, path, session, locale } = visit
  if (keeps === undefined) return undefined
  const stored = await kit.records.get(keyOf(visit), v.string())
  const fields = stored === undefined ? undefined : await open(stored, visit)
  if (fields === undefined) return undefined
  await kit.records.delete(keyOf(visit))
  // With all of its time: the sign-in can have taken most of it.
  const kept = await seal(fields, visit, kit.now() + keptLifetime)
  const form = { action: urlOf(kit, path), fields: { form_token: await formTokenFor(visit), kept } }
  return pages.confirm({ subjectName: nameIn(session), form, back: urlOf(kit), change: 'kept_form', of: keeps }, locale)
}
