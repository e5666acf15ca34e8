import { parseUrl } from '@grantry/core'
import type { ConfirmLogoutView, LogoutEndView } from '@grantry/plugins/end-session'
import { type Content, html } from '../html.ts'
import type { Page, Tools } from '../tools.ts'
import { form, userLine, waysOn } from './parts.ts'
import { formScript } from './scripts.ts'

/** The buttons `decision` with the values `logout` and `stay`. */
export function confirmLogout(view: ConfirmLogoutView, tools: Tools): Page {
  const { text } = tools
  const title = text('logoutTitle')
  const content = html`<h1>${title}</h1>${userLine(view.subjectName, tools)}<p>${text('logoutIntro')}</p>${form(
    view,
    html`<button class="primary" id="logout" name="decision" value="logout">${text('logout')}</button><button id="stay" name="decision" value="stay">${text('stay')}</button>`,
  )}`
  return { title, content, formTargets: view.formTargets, script: formScript }
}

function endLinks({ clientName = '', returnTo, home }: LogoutEndView, tools: Tools): Content {
  const isWeb = returnTo !== undefined && /^https?:$/u.test(parseUrl(returnTo)?.protocol ?? '')
  return waysOn({ returnTo: isWeb ? { name: clientName, url: returnTo } : undefined, home }, tools)
}

export function signedOut(view: LogoutEndView, tools: Tools): Page {
  const title = tools.text('signedOutTitle')
  const content = html`<h1 id="signed-out">${title}</h1><p>${tools.text('signedOutIntro')}</p>${endLinks(view, tools)}`
  return { title, content }
}

/** Shown to a user who does not want to sign out. */
export function stillSignedIn(view: LogoutEndView, tools: Tools): Page {
  const title = tools.text('stillSignedInTitle')
  const content = html`<h1 id="still-signed-in">${title}</h1><p>${tools.text('signedOutIntro')}</p>${endLinks(view, tools)}`
  return { title, content }
}
