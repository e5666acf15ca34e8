import type { MailView, RenderedMail } from '@grantry/plugins/self-service'
import { type Content, html } from '../html.ts'
import { codeInMail, mailDocument } from '../mail-document.ts'
import type { Texts } from '../texts.ts'
import type { SelfServicePageTools } from './tools.ts'

const texts = {
  recovery: ['mailRecoverySubject', 'mailRecoveryText'],
  sign_up: ['mailSignUpSubject', 'mailSignUpText'],
  sign_in: ['mailSignInSubject', 'mailSignInText'],
  invitation: ['mailInvitedSubject', 'mailInvitedText'],
  account_exists: ['mailExistsSubject', 'mailExistsText'],
  password_changed: ['mailChangedSubject', 'mailChangedText'],
} as const satisfies Readonly<Record<MailView['kind'], readonly [keyof Texts['mails'], keyof Texts['mails']]>>

/** Renders a mail. It contains no text of a request, so a stranger cannot send a text of their own. */
export function renderMail(
  view: MailView,
  { selfServiceText, service, shared }: SelfServicePageTools,
  host: string,
): RenderedMail {
  const [subject, text] = texts[view.kind]
  const values = { service: service ?? host }
  const parts: { readonly text: string; readonly content: Content }[] = []
  const add = (line: string, content: Content = html`<p>${line}</p>`): void => {
    parts.push({ text: line, content })
  }
  add(selfServiceText(text, values))
  if (view.kind === 'password_changed' && view.url !== undefined) {
    add(selfServiceText('mailChangedReview'))
    add(view.url, html`<p><a href="${view.url}">${view.url}</a></p>`)
  }
  if ('minutes' in view) {
    const { url, code, minutes } = view
    if (url !== undefined) {
      add(selfServiceText('mailOpen'))
      add(url, html`<p><a href="${url}">${url}</a></p>`)
    }
    if (code !== undefined) {
      add(url === undefined ? `${shared.text('secondFactorCode')}:` : selfServiceText('mailCode'))
      parts.push(codeInMail(code, shared.locale))
    }
    add(selfServiceText('mailExpires', { minutes: String(minutes) }))
    add(selfServiceText('mailIgnore'))
  }
  if (view.kind === 'invitation') {
    const date = new Intl.DateTimeFormat(shared.locale, { dateStyle: 'long', timeZone: 'UTC' })
    add(selfServiceText('mailInvitedOpen'))
    add(view.url, html`<p><a href="${view.url}">${view.url}</a></p>`)
    add(selfServiceText('mailInvitedUntil', { date: date.format(new Date(view.until * 1000)) }))
    add(selfServiceText('mailInvitedIgnore'))
  }
  const title = selfServiceText(subject, values)
  const content = parts.map((part) => part.content)
  return {
    subject: title,
    text: `${parts.map((part) => part.text).join('\n\n')}\n`,
    html: mailDocument(shared.locale, title, content),
  }
}
