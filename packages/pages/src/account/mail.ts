import { html } from '../html.ts'
import { mailDocument } from '../mail-document.ts'
import { notices } from './parts.ts'
import type { AccountTools } from './tools.ts'
import type { AccountMailView } from './views.ts'

/** A mail about a change. It contains nothing of the user, and no secret. */
export function mail({ change, service, url }: AccountMailView, { own, locale }: AccountTools) {
  const subject = own('mailSubject')
  const lines = [own('mailIntro', { service }), own(notices[change]), own('mailHint', { url })]
  const content = html`${lines.map((line) => html`<p>${line}</p>`)}<p><a href="${url}">${url}</a></p>`
  return { subject, text: `${lines.join('\n\n')}\n`, html: mailDocument(locale, subject, content) }
}
