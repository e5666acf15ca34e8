import type { InvitationStateView, InvitedView } from '@grantry/plugins/self-service'
import { html } from '../html.ts'
import { alert, form, waysOn } from '../templates/parts.ts'
import { formScript, passwordScript, scriptOf } from '../templates/scripts.ts'
import type { Page } from '../tools.ts'
import { newPasswordFields, newUserProblem } from './templates.ts'
import type { SelfServicePageTools } from './tools.ts'

/** The fields `password` and `username` of a user who was invited. */
export function invited(view: InvitedView, tools: SelfServicePageTools): Page {
  const { selfServiceText } = tools
  const message = newUserProblem(view, tools)
  const title = selfServiceText('signUpTitle')
  const content = html`<h1>${title}</h1><p class="muted" id="account">${view.name}</p>${alert(message)}${form(
    view,
    html`${newPasswordFields(view, message !== undefined, tools)}<button class="primary" id="save">${selfServiceText('createButton')}</button>`,
  )}`
  return { title, content, formTargets: view.formTargets, script: scriptOf(formScript, passwordScript) }
}

const texts = {
  ended: ['invitationEndedTitle', 'invitationEndedText'],
  account_exists: ['mailExistsSubject', 'accountExistsText'],
  ready: ['accountReadyTitle', 'accountReadyText'],
} as const

/** An invitation that is no longer valid, is not needed, or was accepted. */
export function invitationState(
  { state, signInUrl, home }: InvitationStateView,
  { selfServiceText, shared }: SelfServicePageTools,
): Page {
  const [titleKey, textKey] = texts[state]
  const title = selfServiceText(titleKey)
  const way =
    signInUrl !== undefined && html`<a id="sign-in" class="way" href="${signInUrl}">${shared.text('signIn')}</a>`
  const content = html`<h1>${title}</h1><p>${selfServiceText(textKey)}</p>${way === false ? waysOn({ home }, shared) : way}`
  return { title, content }
}
