import { sendMail } from '../shared/mailer.ts'
import { mailFailure } from '../shared/outgoing-mails.ts'
import type { AccountChange, AccountServices } from './services.ts'
import { accountPath, type Visit } from './visit.ts'

/** The user who has made a change, and the request. */
export interface ChangedBy extends Pick<Visit, 'request' | 'kit' | 'locale'> {
  readonly session: { readonly subject: { readonly sub: string } }
}

/** Sends a mail about a change. One that fails undoes nothing: an event reports it. */
export async function mailChange(
  change: AccountChange,
  to: string,
  { kit, locale }: Pick<ChangedBy, 'kit' | 'locale'>,
  { mailer, pages }: Pick<AccountServices, 'mailer' | 'pages'>,
): Promise<void> {
  if (mailer === undefined) return
  try {
    const url = `${kit.issuer}${accountPath}`
    const mail = pages.mail({ change, service: new URL(kit.issuer).host, url }, locale)
    await sendMail(mailer, 'account.mailer', { ...mail, to }, kit)
  } catch (error) {
    kit.recordUser({ type: 'mail_failed', purpose: change, reason: mailFailure(error) }, {})
  }
}

/**
 * The maximum number of mails per hour to one user about one kind of change. Without a limit, a script could use up
 * the mails of all users.
 */
const mostMails = 10
const hour = 3600

/**
 * Whether the limit of mails to the user allows one more. Each kind of change is counted separately, so that one kind
 * cannot suppress the mails about another.
 */
async function mayMail(change: AccountChange, sub: string, kit: Pick<ChangedBy['kit'], 'records' | 'now'>) {
  const current = Math.floor(kit.now() / hour)
  const key = `mails about changes:${JSON.stringify([sub, change, current])}`
  return (await kit.records.increment(key, (current + 1) * hour + 60)) <= mostMails
}

/**
 * Records a change, and sends a mail about it to the verified address of the user, if there is one. A mail that fails
 * undoes nothing: an event reports it.
 */
export async function noteChange(
  change: AccountChange,
  { session, request, kit, locale }: ChangedBy,
  { accounts, mailer, pages }: Pick<AccountServices, 'accounts' | 'mailer' | 'pages'>,
): Promise<void> {
  const { sub } = session.subject
  kit.recordUser({ type: 'account_changed', change }, { sub, clientAddress: request.clientAddress })
  if (accounts === undefined || mailer === undefined) return
  try {
    const account = await kit.callHost('account.accounts', () => accounts.find(sub))
    const to = account?.emailVerified === true ? account.email : undefined
    if (to === undefined || !(await mayMail(change, sub, kit))) return
    await mailChange(change, to, { kit, locale }, { mailer, pages })
  } catch (error) {
    kit.recordUser({ type: 'mail_failed', purpose: change, reason: mailFailure(error) }, {})
  }
}
