import type {
  AccountProblem,
  AskAddressView,
  InvitedView,
  MailElsewhereView,
  MailProvedView,
  MailSentView,
} from '@grantry/plugins/self-service'
import { type Content, html } from '../html.ts'
import { passwordField } from '../templates/fields.ts'
import { alert, clientLinks, continuing, form, heading, waysOn } from '../templates/parts.ts'
import { formScript, passwordScript, scriptOf } from '../templates/scripts.ts'
import { tooManyAttempts } from '../templates/too-many-attempts.ts'
import type { Page } from '../tools.ts'
import type { SelfServicePageTools } from './tools.ts'

/** Seconds of a delay that a page shows. Longer delays are of no use to a user. */
const maxShownWait = 3600

export function problemText(
  problem: AccountProblem | undefined,
  retryAfter: number | undefined,
  { selfServiceText, shared }: SelfServicePageTools,
  lengths: Readonly<Record<string, string>> = {},
): string | undefined {
  switch (problem) {
    case undefined:
      return undefined
    case 'form_expired':
      return shared.text('formExpired')
    case 'wrong_code':
      return shared.text('wrongCode')
    case 'too_many_attempts':
      return tooManyAttempts(retryAfter !== undefined && retryAfter > maxShownWait ? undefined : retryAfter, shared)
    case 'address_malformed':
      return selfServiceText('addressMalformed')
    case 'account_changed':
      return selfServiceText('accountChanged')
    case 'name_malformed':
      return selfServiceText('nameMalformed')
    case 'name_taken':
      return selfServiceText('nameTaken')
    case 'password_short':
      return selfServiceText('passwordShort', lengths)
    case 'password_long':
      return selfServiceText('passwordLong', lengths)
    case 'password_malformed':
      return selfServiceText('passwordMalformed')
    case 'password_personal':
      return selfServiceText('passwordPersonal')
    case 'password_common':
      return selfServiceText('passwordCommon')
  }
}

const backLink = ({ backUrl }: Pick<AskAddressView, 'backUrl'>, { selfServiceText }: SelfServicePageTools): Content =>
  html`<p class="links"><a id="back" href="${backUrl}">${selfServiceText('back')}</a></p>`

const described = (message: string | undefined): Content =>
  message !== undefined && html` aria-invalid="true" aria-describedby="problem"`

/** The field `address`. Not of the type `email`: browsers refuse letters such as `ö` there, and send others in Punycode. */
export function askAddress(view: AskAddressView, tools: SelfServicePageTools): Page {
  const { selfServiceText } = tools
  const [title, intro] = {
    recovery: [selfServiceText('recoveryTitle'), selfServiceText('recoveryIntro')],
    sign_up: [selfServiceText('signUpTitle'), selfServiceText('signUpIntro')],
    sign_in: [selfServiceText('mailSignInTitle'), selfServiceText('mailSignInIntro')],
  }[view.purpose] as [string, string]
  const message = problemText(view.problem, view.retryAfter, tools)
  const content = html`${heading(view.client, title, continuing(view.client, tools.shared))}<p>${intro}</p>${alert(message)}${form(
    view,
    html`<label for="address">${selfServiceText('address')}</label><input id="address" name="address" type="text" inputmode="email" value="${view.address ?? ''}" required maxlength="254" autocomplete="email" autocapitalize="none" spellcheck="false" dir="ltr" autofocus${described(message)}>
<button class="primary" id="send">${selfServiceText('send')}</button>`,
  )}${backLink(view, tools)}${clientLinks(view.client, tools.shared)}`
  return { title, content, client: view.client, formTargets: view.formTargets, script: formScript }
}

/** The field `code`. */
export function mailSent(view: MailSentView, tools: SelfServicePageTools): Page {
  const { selfServiceText, shared, outboxUrl } = tools
  const values = { address: view.address, minutes: String(view.minutes) }
  const message = problemText(view.problem, view.retryAfter, tools)
  const codeForm = form(
    view,
    html`<label for="code">${shared.text('secondFactorCode')}</label><input id="code" class="digits" name="code" required maxlength="64" inputmode="numeric" autocomplete="one-time-code" autocapitalize="none" spellcheck="false" dir="ltr" autofocus${described(message)}>
<button class="primary" id="confirm">${shared.text('continueButton')}</button>`,
  )
  const outbox =
    outboxUrl !== undefined &&
    html`<p id="outbox">${selfServiceText('outboxText')} <a href="${outboxUrl}" target="_blank" rel="noopener">${selfServiceText('outboxLink')}</a></p>`
  const content = html`<h1>${selfServiceText('sentTitle')}</h1><p>${selfServiceText(view.purpose === 'sign_up' ? 'sentTo' : 'sentIfKnown', values)}</p><p>${selfServiceText(view.asksForCode ? 'sentCode' : 'sentLink')}</p>${outbox}${alert(message)}${view.asksForCode && codeForm}<p class="links"><a id="again" href="${view.againUrl}">${selfServiceText('sendAgain')}</a><a id="back" href="${view.backUrl}">${selfServiceText('back')}</a></p>`
  return {
    title: selfServiceText('sentTitle'),
    content,
    client: view.client,
    formTargets: view.formTargets,
    script: formScript,
  }
}

const lengthsOf = ({ passwordLength }: Pick<MailProvedView, 'passwordLength'>) => ({
  least: String(passwordLength.least),
  most: String(passwordLength.most),
})

type NewUserView = Pick<MailProvedView, 'name' | 'username' | 'asksForName' | 'passwordLength'>

/** The text for a problem with a name or a password. */
export const newUserProblem = (view: MailProvedView | InvitedView, tools: SelfServicePageTools): string | undefined =>
  problemText(view.problem, view.retryAfter, tools, lengthsOf(view))

/** The fields `username` and `password` of a user with a new password. */
export function newPasswordFields(
  view: NewUserView,
  hasProblem: boolean,
  { selfServiceText, shared }: SelfServicePageTools,
): Content {
  // Password managers store the password under this name.
  const name = view.asksForName
    ? html`<label for="username">${shared.text('username')}</label><input id="username" name="username" value="${view.username ?? ''}" required maxlength="64" autocomplete="username" autocapitalize="none" spellcheck="false" dir="ltr" aria-describedby="name-hint"><p class="muted" id="name-hint">${selfServiceText('usernameHint')}</p>`
    : html`<input name="username" value="${view.name}" autocomplete="username" dir="ltr" readonly hidden>`
  const describedBy = `password-hint${hasProblem ? ' problem' : ''}`
  const field = {
    id: 'password',
    label: selfServiceText('newPassword'),
    autocomplete: 'new-password',
    isFocused: true,
  } as const
  const minLength = view.passwordLength.least
  return html`${name}${passwordField({ ...field, describedBy, minLength }, shared)}<p class="muted" id="password-hint">${selfServiceText('passwordHint', lengthsOf(view))}</p>`
}

/** The fields `password` and `username`. */
export function mailProved(view: MailProvedView, tools: SelfServicePageTools): Page {
  const { selfServiceText, shared } = tools
  const message = newUserProblem(view, tools)
  const [title, button] = {
    recovery: [selfServiceText('newPasswordTitle'), selfServiceText('savePassword')],
    sign_up: [selfServiceText('signUpTitle'), selfServiceText('createButton')],
    sign_in: [selfServiceText('confirmTitle', { name: view.name }), shared.text('signIn')],
  }[view.purpose] as [string, string]
  const password = newPasswordFields(view, message !== undefined, tools)
  const content = html`<h1>${title}</h1>${view.asksForPassword && html`<p class="muted" id="account">${view.name}</p>`}${alert(message)}${form(
    view,
    html`${view.asksForPassword && password}<button class="primary" id="save">${button}</button>`,
  )}${backLink(view, tools)}`
  const script = scriptOf(formScript, view.asksForPassword && passwordScript)
  return { title, content, client: view.client, formTargets: view.formTargets, script }
}

/** A mailed link that does not belong to this browser, or is no longer valid. */
export function mailElsewhere(view: MailElsewhereView, { selfServiceText, shared }: SelfServicePageTools): Page {
  const content = html`<h1>${selfServiceText('elsewhereTitle')}</h1><p>${selfServiceText(view.hasCode ? 'elsewhereText' : 'elsewhereLink')}</p>${waysOn(view, shared)}`
  return { title: selfServiceText('elsewhereTitle'), content }
}
