import { html, textOf } from '../html.ts'
import { directionOf } from '../messages/languages.ts'
import { notices } from './parts.ts'
import type { AccountTools } from './tools.ts'
import type { AccountMailView } from './views.ts'

/** A mail about a change. It contains nothing of the user, and no secret. */
export function mail({ change, service, url }: AccountMailView, { own, locale }: AccountTools) {
  const subject = own('mailSubject')
  const lines = [own('mailIntro', { service }), own(notices[change]), own('mailHint', { url })]
  const document = html`<!doctype html><html lang="${locale}" dir="${directionOf(locale)}"><head><meta charset="utf-8"><title>${subject}</title></head><body>${lines.map((line) => html`<p>${line}</p>`)}<p><a href="${url}">${url}</a></p></body></html>`
  return { subject, text: `${lines.join('\n\n')}\n`, html: textOf(document) }
}
