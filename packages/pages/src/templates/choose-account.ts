import { html } from '../html.ts'
import type { Page, Tools } from '../tools.ts'
import type { ChooseAccountView } from '../views.ts'
import { clientLine, form, initialOf, nameOf } from './parts.ts'

/** The buttons `account`, with the id of an account or `other`, and `decision` with the value `deny`. */
export function chooseAccount(view: ChooseAccountView, { text }: Tools): Page {
  const { client, accounts } = view
  const title = text('chooseAccountTitle')
  const buttons = accounts.map(
    ({ id, name }) =>
      html`<button class="account" name="account" value="${id}"><span class="initial" aria-hidden="true">${initialOf(name)}</span><span>${name}</span></button>`,
  )
  const content = html`<h1>${title}</h1>${clientLine(client, text('signInIntro', { client: nameOf(client) }))}${form(
    view,
    html`${buttons}<button id="other" name="account" value="other">${text('otherAccount')}</button><button id="deny" name="decision" value="deny">${text('cancel')}</button>`,
  )}`
  return { title, content, client, formTargets: view.formTargets }
}
