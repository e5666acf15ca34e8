import { parseUrl } from '@grantry/core'
import { html } from '../html.ts'
import type { Page, Tools } from '../tools.ts'
import type { ConfirmLogoutView, SignedOutView } from '../views.ts'
import { form } from './parts.ts'

/** The buttons `decision` with the values `logout` and `stay`. */
export function confirmLogout(view: ConfirmLogoutView, { text }: Tools): Page {
  const { subjectName } = view
  const title = text('logoutTitle')
  const content = html`<h1>${title}</h1>${subjectName !== undefined && html`<p class="muted">${text('signedInAs', { name: subjectName })}</p>`}<p>${text('logoutIntro')}</p>${form(
    view,
    html`<button class="primary" id="logout" name="decision" value="logout">${text('logout')}</button><button id="stay" name="decision" value="stay">${text('stay')}</button>`,
  )}`
  return { title, content, formTargets: view.formTargets }
}

export function signedOut({ clientName, returnTo }: SignedOutView, { text }: Tools): Page {
  const title = text('signedOutTitle')
  const isLink = returnTo !== undefined && /^https?:$/u.test(parseUrl(returnTo)?.protocol ?? '')
  const content = html`<h1 id="signed-out">${title}</h1><p>${text('signedOutIntro')}</p>${
    isLink &&
    html`<p><a id="return" href="${returnTo}">${text('returnToApplication', { client: clientName ?? '' })}</a></p>`
  }`
  return { title, content }
}
