import type { Reply } from '@grantry/core'
import { isOutdated, standingOf } from '../authorization-endpoint/authorization-endpoint.ts'
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

/** Ends what others may have got with the old password. */
async function endAll({ session, kit }: Visit, { sessions }: AccountServices): Promise<void> {
  await kit.revoke({ subject: session.subject.sub })
  await sessions.endAll(kit, session.subject.sub)
}

/** Continues the session of this browser, after all have ended. */
async function continueAlone({ session, kit, request }: Visit, { sessions }: AccountServices) {
  const { sub } = session.subject
  if (!(await kit.isUserActive(sub))) return undefined
  const standing = await standingOf(kit, sub)
  return sessions.start(kit, { subject: session.subject, name: session.name, standing }, request)
}

export const changePassword: ChangePage = {
  keeps: 'password',
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
    // Before: if this process dies after the change, no session is left that the old password has begun. The user of this
    // one then signs in again, and repeats the change if it was not made.
    await endAll(visit, services)
    const { sub } = session.subject
    const standing = await standingOf(kit, sub)
    const isStillAllowed = async (): Promise<boolean> =>
      (await kit.isUserActive(sub)) && !isOutdated(standing, await standingOf(kit, sub))
    const changed = await callAccounts(visit, services, (store) => store.change(sub, { password, isStillAllowed }))
    // After: sign-ins with the old password in between.
    await endAll(visit, services)
    const isChanged = changed !== undefined && changed !== 'taken'
    // Otherwise, someone has revoked the user meanwhile, and this session, too.
    const started = isChanged ? await continueAlone(visit, services) : undefined
    if (isChanged) {
      await rememberOwner(changed, password, kit, { clientAddress: visit.request.clientAddress })
      await noteChange('password_changed', visit, services)
    }
    // The page needs the new session, which the next request has.
    return {
      location: urlOf(kit, isChanged ? '' : passwordPath),
      ...(started !== undefined && { cookies: started.cookies }),
    }
  },
}
