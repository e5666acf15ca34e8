import { type Content, html } from '../html.ts'
import type { Page, Tools } from '../tools.ts'
import type { ConsentView } from '../views.ts'
import { access, lastingLast, onlyResource } from './access.ts'
import { alert, clientLinks, form, heading, nameOf, userLine } from './parts.ts'
import { formScript } from './scripts.ts'

/** What users need to know about an application that has described itself: any other one can have its name. */
function origin({ described }: ConsentView, { text }: Tools): Content {
  if (described === undefined) return false
  const { host, homePage, returnsTo, isKnown } = described
  const sentences = [
    ...(host === undefined ? [] : [text('consentHost', { host })]),
    // The document proves its host. Of others, the home page is all there is.
    ...(host === undefined && homePage !== undefined ? [text('consentHomePage', { host: homePage })] : []),
    returnsTo === undefined ? text('consentDevice') : text('consentReturn', { host: returnsTo }),
    ...(isKnown ? [] : [text('consentUnchecked')]),
  ]
  return html`<p${returnsTo !== undefined && html` class="muted"`} id="origin">${sentences.join(' ')}</p>`
}

/** The buttons `decision` with the values `allow`, `deny` and `switch` (another account), and a checkbox for each scope that the user can leave out. */
export function consent(given: ConsentView, tools: Tools): Page {
  const view = { ...given, scopes: lastingLast(given.scopes) }
  const { client, subjectName, problem } = view
  const { text } = tools
  const title = text('consentTitle', { client: nameOf(client) })
  const buttons = html`<button class="primary" id="allow" name="decision" value="allow">${text('allow')}</button><button id="deny" name="decision" value="deny">${text('deny')}</button>`
  const user = html`<div class="user">${userLine(subjectName, tools)}<button class="quiet small" id="switch" name="decision" value="switch">${text('otherAccount')}</button></div>`
  const content = html`${heading(client, title)}${form(
    view,
    html`${user}${origin(view, tools)}${onlyResource(view, tools)}${alert(problem && text('consentNothing'))}${access(view, tools)}${buttons}`,
  )}${clientLinks(client, tools)}`
  return { title, content, client, formTargets: view.formTargets, script: formScript }
}
