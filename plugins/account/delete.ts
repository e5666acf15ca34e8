import type { Account } from '../shared/account-store.ts'
import { accountOf } from './accounts.ts'
import { beginRemoval } from './removal.ts'
import type { AccountServices, ChangePage } from './services.ts'
import { formTokenFor, mayStillChange, nameIn, urlOf, type Visit } from './visit.ts'

export const deletePath = 'delete'

/** Whether the user has an account that can be removed. A user of the configuration could only be locked out. */
const hasAccount = (account: Account | undefined, { deletion, removeUser }: AccountServices): boolean =>
  deletion && (removeUser !== undefined || account !== undefined)

/** The page that deletes the account, for the overview. */
export const deletionView = (account: Account | undefined, { kit }: Visit, services: AccountServices) =>
  hasAccount(account, services) ? urlOf(kit, deletePath) : undefined

/** Removes the account of the user, and all that belongs to it. */
export const deleteAccount: ChangePage = {
  asksItself: true,
  async show(visit, services) {
    const { pages } = services
    if (!hasAccount(await accountOf(visit, services), services)) return undefined
    const { kit, session, path, locale } = visit
    const form = { action: urlOf(kit, path), fields: { form_token: await formTokenFor(visit) } }
    return pages.confirm({ subjectName: nameIn(session), form, back: urlOf(kit), change: 'delete_account' }, locale)
  },
  async submit(_fields, visit, services) {
    const { kit, session, locale } = visit
    const account = await accountOf(visit, services)
    if (!hasAccount(account, services)) return 'gone'
    const { sub } = session.subject
    const to = account?.emailVerified === true ? account.email : undefined
    const isStillAllowed = () => mayStillChange(visit, services)
    const outcome = await beginRemoval({ sub, to, locale, isStillAllowed }, kit, services)
    if (outcome === 'refused') return 'deletion_refused'
    if (outcome === 'ended') return 'gone'
    return { ...services.pages.deleted({ again: urlOf(kit) }, locale), cookies: [services.sessions.clearCookie(kit)] }
  },
}
