import { accountOf } from './accounts.ts'
import { beginRemoval } from './removal.ts'
import type { ChangePage } from './services.ts'
import { formTokenFor, nameIn, urlOf } from './visit.ts'

export const deletePath = 'delete'

/** Removes the account of the user, and all that belongs to it. */
export const deleteAccount: ChangePage = {
  async show(visit, { pages, deletion }) {
    if (!deletion) return undefined
    const { kit, session, path, locale } = visit
    const form = { action: urlOf(kit, path), fields: { form_token: await formTokenFor(visit) } }
    return pages.confirm({ subjectName: nameIn(session), form, back: urlOf(kit), change: 'delete_account' }, locale)
  },
  async submit(_fields, visit, services) {
    const { kit, session, locale } = visit
    if (!services.deletion) return 'gone'
    const account = await accountOf(visit, services)
    const { sub } = session.subject
    const to = account?.emailVerified === true ? account.email : undefined
    if ((await beginRemoval({ sub, to, locale }, kit, services)) === 'refused') return 'deletion_refused'
    return { ...services.pages.deleted({ again: urlOf(kit) }, locale), cookies: [services.sessions.clearCookie(kit)] }
  },
}
