import type { AddressMailView, ChangeAddressView, OverviewView, ProveAddressView } from '@grantry/plugins/account'
import { type Content, html } from '../html.ts'
import { codeInMail, mailDocument } from '../mail-document.ts'
import { alert, userLine } from '../templates/parts.ts'
import type { Texts } from '../texts.ts'
import type { Page } from '../tools.ts'
import { changeForm } from './parts.ts'
import type { AccountTools } from './tools.ts'

const problems: Readonly<Record<NonNullable<ChangeAddressView['problem']>, keyof Texts['account']>> = {
  address_malformed: 'emailMalformed',
  address_known: 'emailSame',
  too_many_attempts: 'emailTooMany',
  wrong_code: 'emailWrongCode',
}

const messageOf = ({ problem }: Pick<ChangeAddressView, 'problem'>, { accountText }: AccountTools) =>
  problem && accountText(problems[problem])

const invalid = (message: string | undefined): Content =>
  message !== undefined && html` aria-invalid="true" aria-describedby="problem"`

/** The address of the user, and whether it was proved. Addresses are read from left to right in all languages. */
export function addressOf({ email }: OverviewView, { accountText }: AccountTools): Content {
  if (email === undefined) return false
  const { address, isVerified, change } = email
  const state = accountText(isVerified ? 'emailProved' : 'emailOpen')
  const shown =
    address === undefined
      ? html`<p class="muted">${accountText('emailNone')}</p>`
      : html`<ul><li class="entry"><div><strong><bdi dir="ltr">${address}</bdi></strong><small>${state}</small></div></li></ul>`
  const label = accountText(address === undefined || isVerified ? 'emailChange' : 'emailConfirm')
  return html`<section aria-labelledby="own-address"><h2 id="own-address">${accountText('emailTitle')}</h2>${shown}<p class="links"><a id="change-address" href="${change}">${label}</a></p></section>`
}

/** The field `address`. */
export function changeAddress(view: ChangeAddressView, tools: AccountTools): Page {
  const { accountText } = tools
  const title = accountText('emailTitle')
  const message = messageOf(view, tools)
  const field = html`<label for="address">${title}</label><input id="address" name="address" type="text" inputmode="email" required maxlength="254" dir="ltr" autocomplete="email" autocapitalize="none" spellcheck="false" value="${view.address}"${invalid(message)}>`
  const content = html`<h1>${title}</h1>${userLine(view.subjectName, tools)}<p>${accountText('emailIntro')}</p>${alert(message)}${changeForm(view, accountText('emailSend'), tools, field)}`
  return { title, content }
}

/** The field `code`. The same page for an address that belongs to another user. */
export function proveAddress(view: ProveAddressView, tools: AccountTools): Page {
  const { accountText } = tools
  const title = accountText('emailSentTitle')
  const message = messageOf(view, tools)
  const sent = accountText('emailSent', { address: view.address, minutes: String(view.minutes) })
  const field = html`<label for="code">${accountText('emailCode')}</label><input id="code" class="digits" name="code" type="text" required maxlength="64" dir="ltr" inputmode="numeric" autocomplete="one-time-code" spellcheck="false"${invalid(message)}>`
  const again = html`<p class="links"><a id="again" href="${view.again}">${accountText('emailAgain')}</a></p>`
  const content = html`<h1>${title}</h1>${userLine(view.subjectName, tools)}<p>${sent}</p>${alert(message)}${changeForm(view, accountText('confirm'), tools, field)}${again}`
  return { title, content }
}

/** The mail with the code, or that to the owner of an address that another user has tried to use. */
export function addressMail(view: AddressMailView, { accountText, locale }: AccountTools) {
  const { service } = view
  const isCode = view.kind === 'code'
  const subject = accountText(isCode ? 'codeMailSubject' : 'takenMailSubject', { service })
  const line = (text: string) => ({ text, content: html`<p>${text}</p>` })
  const parts = isCode
    ? [
        line(accountText('codeMailIntro', { service })),
        codeInMail(view.code, locale),
        line(accountText('codeMailHint', { minutes: String(view.minutes) })),
      ]
    : [line(accountText('takenMailIntro', { service })), line(accountText('takenMailHint'))]
  const content = parts.map((part) => part.content)
  return {
    subject,
    text: `${parts.map(({ text }) => text).join('\n\n')}\n`,
    html: mailDocument(locale, subject, content),
  }
}
