import type { Reply } from '@grantry/core'
import { replacePassword } from '../authorization-endpoint/authorization-endpoint.ts'
import { type NewPasswords, newPasswordProblem } from '../shared/new-passwords.ts'
import type { PasswordProblem } from '../shared/password-rules.ts'
import { rememberOwner } from '../shared/remember-owner.ts'
import { accountOf, callAccounts } from './accounts.ts'
import { noteChange } from './changes.ts'
import type { AccountServices, ChangePage } from './services.ts'
import { formTokenFor, mayStillChange, nameIn, urlOf, type Visit } from './visit.ts'

export const passwordPath = 'password'

async function passwordPage(
  visit: Visit,
  { pages }: AccountServices,
  { minLength, maxLength }: NewPasswords,
  username: string,
  problem?: PasswordProblem,
): Promise<Reply> {
  const { session, kit, path, locale } = visit
  const view = {
    subjectName: nameIn(session),
    username,
    form: { action: urlOf(kit, path), fields: { form_token: await formTokenFor(visit) } },
    back: urlOf(kit),
    minLength,
    maxLength,
    problem,
  }
  return pages.changePassword(view, locale)
}

export const changePassword: ChangePage = {
  keeps: 'password',
  asksItself: true,
  async show(visit, services) {
    const { accounts, passwords } = services
    if (accounts === undefined || passwords === undefined) return undefined
    const account = await accountOf(visit, services)
    return account && passwordPage(visit, services, passwords, account.username)
  },
  async submit({ password = '' }, visit, services) {
    const { kit, session } = visit
    const { passwords } = services
    const account = await accountOf(visit, services)
    if (passwords === undefined || account === undefined) return 'gone'
    const { username, email = '' } = account
    const problem = await newPasswordProblem(password, [username, email], 'account_page', passwords, kit)
    if (problem !== undefined) return passwordPage(visit, services, passwords, username, problem)
    if (!(await mayStillChange(visit, services))) return 'gone'
    const { sub } = session.subject
    const owner = { sub, standing: session.standing, sessions: services.sessions }
    const { version } = account
    const { changed, standing } = await replacePassword(owner, kit, (isStillAllowed) =>
      callAccounts(visit, services, (store) => store.change(sub, { password, version, isStillAllowed })),
    )
    // Without a new standing, another call has revoked the user, and with it this session.
    const user = { subject: session.subject, name: session.name, standing }
    const started = standing === undefined ? undefined : await services.sessions.start(kit, user, visit.request)
    if (changed !== undefined) {
      await rememberOwner(changed, password, kit, { clientAddress: visit.request.clientAddress })
      await noteChange('password_changed', visit, services)
    }
    // The page needs the new session, which the next request has.
    return {
      location: urlOf(kit, changed === undefined ? passwordPath : ''),
      ...(started !== undefined && { cookies: started.cookies }),
    }
  },
}
