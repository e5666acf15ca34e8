import type { AccountMailView } from '@grantry/plugins/account'
import { html } from '../html.ts'
import { mailDocument } from '../mail-document.ts'
import { notices } from './parts.ts'
import type { AccountTools } from './tools.ts'

/** A mail about a change. It contains no data of the user, and no secret. */
export function mail({ change, service, url }: AccountMailView, { accountText, locale }: AccountTools) {
  const subject = accountText('mailSubject')
  const isDeleted = change === 'account_deleted'
  const hint = isDeleted ? accountText('deletedMailHint', { service }) : accountText('mailHint', { url })
  const lines = [accountText('mailIntro', { service }), accountText(notices[change]), hint]
  const content = html`${lines.map((line) => html`<p>${line}</p>`)}${!isDeleted && html`<p><a href="${url}">${url}</a></p>`}`
  return { subject, text: `${lines.join('\n\n')}\n`, html: mailDocument(locale, subject, content) }
}
