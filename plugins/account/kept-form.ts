import type { Reply } from '@grantry/core'
import * as v from 'valibot'
import type { AccountServices, ChangePage, Fields } from './services.ts'
import { formTokenFor, nameIn, urlOf, type Visit } from './visit.ts'

/** Seconds in which the user can sign in again, and as many in which the user can confirm the form afterwards. */
export const keptLifetime = 600

/** The parameter of a page that asks for another form than the one that was kept. */
export const withoutKept = 'another'

const schema = v.object({
  keptForm: v.string(),
  sub: v.string(),
  sid: v.string(),
  fields: v.record(v.string(), v.string()),
})

/** A user who signs in again in the same browser continues the session. Another browser never has its id. */
const keyOf = ({ session, kit }: Visit, path: string): string => `kept form:${kit.sha256(`${session.sid} ${path}`)}`

const seal = (fields: Fields, { path, session, kit }: Visit, expiresAt: number): Promise<string> =>
  kit.seal({ keptForm: path, sub: session.subject.sub, sid: session.sid, fields }, expiresAt)

async function open(kept: string, { path, session, kit }: Visit): Promise<Fields | undefined> {
  const form = await kit.unseal(kept, schema)
  const isOwn = form?.keptForm === path && form.sub === session.subject.sub && form.sid === session.sid
  return isOwn ? form.fields : undefined
}

/** Returns the fields of a form, or of the kept form that it confirms; `undefined` if the kept form has expired. */
export const fieldsIn = async (fields: Fields, visit: Visit): Promise<Fields | undefined> =>
  fields.kept === undefined ? fields : open(fields.kept, visit)

/**
 * Keeps a permitted form until its user has signed in again: a device has already stored the passkey in it, an app
 * its secret, or a password manager the password. The form is encrypted. A session has at most one for each page.
 */
export async function keepForm(sent: Fields, visit: Visit): Promise<void> {
  const { kit } = visit
  const fields = await fieldsIn(sent, visit)
  if (fields === undefined) return
  const sealed = await seal(fields, visit, kit.now() + keptLifetime)
  // Twice the time: a page that is shown at the end of the first half can still be confirmed.
  await kit.records.put(keyOf(visit, visit.path), sealed, kit.now() + 2 * keptLifetime)
}

/** Whether a form of a page can still be confirmed. */
export const isKept = async (path: string, visit: Visit): Promise<boolean> =>
  (await visit.kit.records.get(keyOf(visit, path), v.string())) !== undefined

/** Ends a form that was kept, because it was sent. */
export const endKept = (visit: Visit): Promise<unknown> => visit.kit.records.delete(keyOf(visit, visit.path))

/**
 * Returns the page that asks whether to send the kept form. The form is not sent automatically: a stranger at the
 * device may have filled it in, and left the sign-in to the user, who can cancel it here.
 */
export async function keptPage(
  visit: Visit,
  { keeps }: ChangePage,
  { pages }: AccountServices,
): Promise<Reply | undefined> {
  const { kit, path, session, locale } = visit
  if (keeps === undefined) return undefined
  const stored = await kit.records.get(keyOf(visit, path), v.string())
  const fields = stored === undefined ? undefined : await open(stored, visit)
  if (fields === undefined) return undefined
  // Starts the time again, because the sign-in may have taken most of it.
  const kept = await seal(fields, visit, kit.now() + keptLifetime)
  const form = { action: urlOf(kit, path), fields: { form_token: await formTokenFor(visit), kept } }
  const back = `${urlOf(kit, path)}?${withoutKept}=1`
  return pages.confirm({ subjectName: nameIn(session), form, back, change: 'kept_form', of: keeps }, locale)
}
