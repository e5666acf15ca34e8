import type { EndpointKit, Reply } from '@grantry/core'
import { standingOf } from '../authorization-endpoint/authorization-endpoint.ts'
import type { Account, AccountStore } from '../shared/account-store.ts'
import { type NewPasswords, newPasswordProblem } from '../shared/new-passwords.ts'
import type { PasswordProblem } from '../shared/password-rules.ts'
import { noteChange } from './changes.ts'
import type { AccountServices, ChangePage } from './services.ts'
import { formTokenFor, nameIn, urlOf, type Visit } from './visit.ts'

export const passwordPath = 'password'

const callStore = <T>(kit: EndpointKit, call: () => T | Promise<T>): Promise<T> =>
  kit.callHost('account.accounts', call)

/** Finds the account of the user, if it is one whose password can be changed here. */
const accountOf = ({ session, kit }: Visit, accounts: AccountStore): Promise<Account | undefined> =>
  callStore(kit, () => accounts.find(session.subject.sub))

async function passwordPage(
  visit: Visit,
  { pages }: AccountServices,
  { minLength, maxLength }: NewPasswords,
  problem?: PasswordProblem,
): Promise<Reply> {
  const { session, kit, path, locale } = visit
  const view = {
    subjectName: nameIn(session),
    form: { action: urlOf(kit, path), fields: { form_token: await formTokenFor(visit) } },
    back: urlOf(kit),
    minLength,
    maxLength,
    problem,
  }
  return pages.changePassword(view, locale)
}

/** Ends what others may have got with the old password, and continues the session of this browser. */
async function continueAlone({ session, kit, request }: Visit, { sessions }: AccountServices) {
  const { sub } = session.subject
  await kit.revoke({ subject: sub })
  await sessions.endAll(kit, sub)
  if (!(await kit.isUserActive(sub))) return undefined
  const standing = await standingOf(kit, sub)
  return sessions.start(kit, { subject: session.subject, name: session.name, standing }, request)
}

export const changePassword: ChangePage = {
  async show(visit, services) {
    const { accounts, passwords } = services
    if (accounts === undefined || passwords === undefined) return undefined
    return (await accountOf(visit, accounts)) && passwordPage(visit, services, passwords)
  },
  async submit({ password = '' }, visit, services) {
    const { kit, session } = visit
    const { accounts, passwords } = services
    const account = accounts && (await accountOf(visit, accounts))
    if (accounts === undefined || passwords === undefined || account === undefined) return 'gone'
    const { username, email = '' } = account
    const problem = await newPasswordProblem(password, [username, email], 'account_page', passwords, kit)
    if (problem !== undefined) return passwordPage(visit, services, passwords, problem)
    const changed = await callStore(kit, () => accounts.change(session.subject.sub, { password }))
    if (changed === undefined || changed === 'taken') return 'gone'
    const started = await continueAlone(visit, services)
    await noteChange('password_changed', visit, services)
    // The overview needs the new session, which the next request has.
    return { location: urlOf(kit), ...(started !== undefined && { cookies: started.cookies }) }
  },
}
