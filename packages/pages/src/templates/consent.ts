import type { ConsentView } from '@grantry/plugins/sign-in'
import { type Content, filled, type Html, html } from '../html.ts'
import type { Page, Tools } from '../tools.ts'
import { access, lastingLast, onlyResource } from './access.ts'
import { alert, clientLinks, form, heading, nameOf, opened, userLine } from './parts.ts'
import { formScript } from './scripts.ts'

/**
 * What users need to know about an application that has described itself: any other one can have its name. The hosts are
 * always seen, and that a program gets the access; what explains them is folded.
 */
function origin({ described }: ConsentView, { text }: Tools): Content {
  if (described === undefined) return false
  const { host, homePage, returnsTo, isKnown } = described
  const withHost = (key: 'consentHost' | 'consentReturn' | 'consentHomePage', name: string): Html =>
    filled(text(key), { host: name }, (shown) => html`<strong dir="ltr">${shown}</strong>`)
  const published = host !== undefined && withHost('consentHost', host)
  const returns = returnsTo === undefined ? text('consentDevice') : withHost('consentReturn', returnsTo)
  // The document proves its host. Of others, the home page is all there is.
  const home = host === undefined && homePage !== undefined && withHost('consentHomePage', homePage)
  const isOneHost = host !== undefined && host === returnsTo
  const more = [home, isOneHost && returns, !isKnown && text('consentOwnName')].filter((line) => line !== false)
  const details =
    more.length > 0 &&
    html`<details><summary>${text(isKnown ? 'consentAbout' : 'consentUnchecked')}</summary>${more.map((line) => html`<p>${line}</p>`)}</details>`
  const lines = [published, !isOneHost && returns].filter((line) => line !== false)
  return html`<div class="origin" id="origin">${lines.map((line) => html`<p>${line}</p>`)}${details}</div>`
}

/** The buttons `decision` with the values `allow`, `deny` and `switch` (another account), and a checkbox for each scope that the user can leave out. */
export function consent(unsorted: ConsentView, tools: Tools): Page {
  const view = { ...unsorted, scopes: lastingLast(unsorted.scopes) }
  const { client, subjectName, problem } = view
  const { text } = tools
  const named = { client: nameOf(client) }
  const title = text('consentTitle', named)
  const buttons = html`<button class="primary" id="allow" name="decision" value="allow">${text('allow')}</button><button id="deny" name="decision" value="deny">${text('deny')}</button>`
  const user = html`<div class="user">${userLine(subjectName, tools)}<button class="quiet small" id="switch" name="decision" value="switch">${text('otherAccount')}</button></div>`
  const content = html`${heading(client, tools.title('consentTitle', named))}${form(
    view,
    html`${user}${origin(view, tools)}${onlyResource(view, tools)}${alert(problem && text('consentNothing'))}${access(view, tools)}${buttons}`,
  )}${opened(view, tools)}${clientLinks(client, tools)}`
  return { title, content, client, formTargets: view.formTargets, script: formScript }
}
