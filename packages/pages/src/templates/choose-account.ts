import { html } from '../html.ts'
import type { Page, Tools } from '../tools.ts'
import type { ChooseAccountView } from '../views.ts'
import { form, heading, initialOf, nameOf } from './parts.ts'
import { formScript } from './scripts.ts'

/** The buttons `account`, with the id of an account or `other`, and `decision` with the value `deny`. */
export function chooseAccount(view: ChooseAccountView, { text }: Tools): Page {
  const { client, accounts } = view
  const title = text('chooseAccountTitle')
  const buttons = accounts.map(
    ({ id, name }) =>
      html`<button class="account" name="account" value="${id}"><span class="initial" aria-hidden="true">${initialOf(name)}</span><span>${name}</span></button>`,
  )
  const content = html`${heading(client, title, text('signInIntro', { client: nameOf(client) }))}${form(
    view,
    html`${buttons}<button id="other" name="account" value="other">${text('otherAccount')}</button><button class="quiet" id="deny" name="decision" value="deny">${text('cancel')}</button>`,
  )}`
  return { title, content, client, formTargets: view.formTargets, script: formScript }
}
