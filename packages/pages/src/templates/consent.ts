import { html } from '../html.ts'
import type { Page, Tools } from '../tools.ts'
import type { ConsentView } from '../views.ts'
import { clientLinks, clientLogo, form, nameOf, userLine } from './parts.ts'

/** The buttons `decision` with the values `allow` and `deny`. */
export function consent(view: ConsentView, tools: Tools): Page {
  const { client, subjectName, scopes, claims } = view
  const { text, scope } = tools
  const title = text('consentTitle', { client: nameOf(client) })
  const items = [
    ...scopes.map(({ name }) => scope(name)),
    ...(claims.length > 0 ? [text('claims', { claims: claims.join(', ') })] : []),
  ]
  const content = html`${clientLogo(client)}<h1>${title}</h1>${userLine(subjectName, tools)}<p>${text('consentIntro')}</p><ul id="scopes">${items.map((item) => html`<li>${item}</li>`)}</ul>${form(
    view,
    html`<button class="primary" id="allow" name="decision" value="allow">${text('allow')}</button><button id="deny" name="decision" value="deny">${text('deny')}</button>`,
  )}${clientLinks(client, tools)}`
  return { title, content, client, formTargets: view.formTargets }
}
