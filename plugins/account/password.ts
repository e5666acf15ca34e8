import type { Reply } from '@grantry/core'
import { standingOf } from '../authorization-endpoint/authorization-endpoint.ts'
import { type NewPasswords, newPasswordProblem } from '../shared/new-passwords.ts'
import type { PasswordProblem } from '../shared/password-rules.ts'
import { accountOf, callAccounts } from './accounts.ts'
import { noteChange } from './changes.ts'
import type { AccountServices, ChangePage } from './services.ts'
import { formTokenFor, nameIn, urlOf, type Visit } from './visit.ts'

export const passwordPath = 'password'

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
    return (await accountOf(visit, services)) && passwordPage(visit, services, passwords)
  },
  async submit({ password = '' }, visit, services) {
    const { kit, session } = visit
    const { passwords } = services
    const account = await accountOf(visit, services)
    if (passwords === undefined || account === undefined) return 'gone'
    const { username, email = '' } = account
    const problem = await newPasswordProblem(password, [username, email], 'account_page', passwords, kit)
    if (problem !== undefined) return passwordPage(visit, services, passwords, problem)
    const changed = await callAccounts(visit, services, (store) => store.change(session.subject.sub, { password }))
    if (changed === undefined || changed === 'taken') return 'gone'
    const started = await continueAlone(visit, services)
    await noteChange('password_changed', visit, services)
    // The overview needs the new session, which the next request has.
    return { location: urlOf(kit), ...(started !== undefined && { cookies: started.cookies }) }
  },
}
