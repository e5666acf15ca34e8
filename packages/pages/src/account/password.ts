import type { ChangePasswordView } from '@grantry/plugins/account'
import { html } from '../html.ts'
import { passwordField } from '../templates/fields.ts'
import { alert, userLine } from '../templates/parts.ts'
import { passwordScript } from '../templates/scripts.ts'
import type { Texts } from '../texts.ts'
import type { Page } from '../tools.ts'
import { changeForm } from './parts.ts'
import type { AccountTools } from './tools.ts'

const problems: Readonly<Record<NonNullable<ChangePasswordView['problem']>, keyof Texts['account']>> = {
  password_short: 'passwordShort',
  password_long: 'passwordLong',
  password_malformed: 'passwordMalformed',
  password_personal: 'passwordPersonal',
  password_common: 'passwordCommon',
}

/** The field `password` for the new password. */
export function changePassword(view: ChangePasswordView, tools: AccountTools): Page {
  const { accountText } = tools
  const { minLength, maxLength, problem, subjectName } = view
  const title = accountText('passwordChange')
  const message = problem && accountText(problems[problem], { least: String(minLength), most: String(maxLength) })
  const field = {
    id: 'password',
    label: accountText('passwordNew'),
    autocomplete: 'new-password',
    minLength,
    describedBy: message === undefined ? undefined : 'problem',
  } as const
  // Password managers store the new password for this name.
  const name = html`<input type="text" name="username" value="${view.username ?? subjectName}" autocomplete="username" hidden>`
  const fields = html`${name}${passwordField(field, tools)}`
  const content = html`<h1>${title}</h1>${userLine(subjectName, tools)}<p>${accountText('passwordIntro')}</p>${alert(message)}${changeForm(view, title, tools, fields)}`
  return { title, content, script: passwordScript }
}
