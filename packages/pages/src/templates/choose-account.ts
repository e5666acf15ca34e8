import type { ChooseAccountView } from '@grantry/plugins/sign-in'
import { html } from '../html.ts'
import type { Page, Tools } from '../tools.ts'
import { continuing, form, heading, initialOf, opened } from './parts.ts'
import { formScript } from './scripts.ts'

/** The buttons `account`, with the id of an account or `other`, and `decision` with the value `deny`. */
export function chooseAccount(view: ChooseAccountView, tools: Tools): Page {
  const { text } = tools
  const { client, accounts } = view
  const title = text('chooseAccountTitle')
  const buttons = accounts.map(
    ({ id, name }) =>
      html`<button class="account" name="account" value="${id}"><span class="initial" aria-hidden="true">${initialOf(name)}</span><span>${name}</span></button>`,
  )
  const content = html`${heading(client, title, continuing(client, tools))}${form(
    view,
    html`${buttons}<button id="other" name="account" value="other">${text('otherAccount')}</button><button class="quiet" id="deny" name="decision" value="deny">${text('cancel')}</button>`,
  )}${opened(view, tools)}`
  return { title, content, client, formTargets: view.formTargets, script: formScript }
}
