import type { AccountFormPage, AddPasskeyView } from '@grantry/plugins/account'
import { html } from '../html.ts'
import { alert, userLine } from '../templates/parts.ts'
import type { Texts } from '../texts.ts'
import type { Page } from '../tools.ts'
import { changeForm } from './parts.ts'
import { registrationScript } from './registration-script.ts'
import type { AccountTools } from './tools.ts'

const problems: Readonly<Record<NonNullable<AddPasskeyView['problem']>, keyof Texts['account']>> = {
  passkey_not_valid: 'passkeyFailed',
  passkey_known: 'passkeyKnown',
  passkey_limit: 'passkeyLimit',
}

const nameField = (name: string, { accountText }: AccountTools) =>
  html`<label for="name">${accountText('passkeyName')}</label><input id="name" name="name" value="${name}" maxlength="64" autocomplete="off">`

/** The form that a script completes. Without scripts, the page says that it needs one. */
export function addPasskey(view: AddPasskeyView, tools: AccountTools): Page {
  const { accountText } = tools
  const title = accountText('addPasskey')
  const fields = html`<input type="hidden" name="credential" value="">${nameField(view.suggestedName, tools)}`
  const messages = html`<p role="alert" id="failed" hidden>${accountText('passkeyFailed')}</p><p role="alert" id="known" hidden>${accountText('passkeyKnown')}</p><p role="alert" id="unsupported" hidden>${accountText('passkeyUnsupported')}</p>`
  const form = html`<div id="enrol" hidden data-options="${JSON.stringify(view.options)}">${changeForm(view, accountText('addPasskey'), tools, fields)}</div>`
  const content = html`<h1>${title}</h1>${userLine(view.subjectName, tools)}<p>${accountText('addPasskeyIntro')}</p>${alert(view.problem && accountText(problems[view.problem]))}${messages}${form}<noscript><p id="script-needed">${accountText('passkeyNeedsScript')}</p><p class="links"><a href="${view.back}">${accountText('back')}</a></p></noscript>`
  return { title, content, script: registrationScript }
}

/** The field `name`. */
export function renamePasskey(view: AccountFormPage & { readonly name: string }, tools: AccountTools): Page {
  const title = tools.accountText('rename')
  const content = html`<h1>${title}</h1>${userLine(view.subjectName, tools)}${changeForm(view, tools.accountText('save'), tools, nameField(view.name, tools))}`
  return { title, content }
}
