import type { ConsentView } from '@grantry/plugins/sign-in'
import { html } from '../html.ts'
import type { Page, Tools } from '../tools.ts'
import { access, lastingLast, onlyResource } from './access.ts'
import { origin, returnLine } from './origin.ts'
import { alert, clientLinks, form, heading, nameOf, opened, userLine } from './parts.ts'
import { formScript } from './scripts.ts'

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
    html`${user}${origin(view.described, tools, returnLine(view.described, tools))}${onlyResource(view, tools)}${alert(problem && text('consentNothing'))}${access(view, tools)}${buttons}`,
  )}${opened(view, tools)}${clientLinks(client, tools)}`
  return { title, content, client, formTargets: view.formTargets, script: formScript }
}
