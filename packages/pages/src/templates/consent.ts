import { type Content, html } from '../html.ts'
import type { Page, Tools } from '../tools.ts'
import type { ConsentView } from '../views.ts'
import { clientLinks, clientLogo, form, nameOf, userLine } from './parts.ts'

/** What users need to know about an application that has described itself: any other one can have its name. */
function origin({ described }: ConsentView, { text }: Tools): Content {
  if (described === undefined) return false
  const { host, returnsTo, isKnown } = described
  const sentences = [
    text('consentHost', { host }),
    returnsTo === undefined ? text('consentDevice') : text('consentReturn', { host: returnsTo }),
    ...(isKnown ? [] : [text('consentUnchecked')]),
  ]
  return html`<p class="muted" id="origin">${sentences.join(' ')}</p>`
}

/** The buttons `decision` with the values `allow` and `deny`. */
export function consent(view: ConsentView, tools: Tools): Page {
  const { client, subjectName, scopes, claims } = view
  const { text, scope } = tools
  const title = text('consentTitle', { client: nameOf(client) })
  const items = [
    ...scopes.map(({ name }) => scope(name)),
    ...(claims.length > 0 ? [text('claims', { claims: claims.join(', ') })] : []),
  ]
  const content = html`${clientLogo(client)}<h1>${title}</h1>${userLine(subjectName, tools)}${origin(view, tools)}<p>${text('consentIntro')}</p><ul id="scopes">${items.map((item) => html`<li>${item}</li>`)}</ul>${form(
    view,
    html`<button class="primary" id="allow" name="decision" value="allow">${text('allow')}</button><button id="deny" name="decision" value="deny">${text('deny')}</button>`,
  )}${clientLinks(client, tools)}`
  return { title, content, client, formTargets: view.formTargets }
}
