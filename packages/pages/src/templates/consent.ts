import { type Content, html } from '../html.ts'
import type { Page, Tools } from '../tools.ts'
import type { ConsentView } from '../views.ts'
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

/** The API that everything is for. With several ones, each scope names its own. */
function onlyResource({ resources = [] }: ConsentView, { text, resource }: Tools): Content {
  const [only, ...others] = resources
  if (only === undefined || others.length > 0) return false
  return html`<p id="resource">${text('consentResource', { resource: resource(only.audience) })}</p>`
}

/** The APIs of a scope, if the request is for several. */
function resourcesOf(name: string, { resources = [] }: ConsentView, { resource }: Tools): Content {
  if (resources.length < 2) return false
  const own = resources.filter(({ scopes }) => scopes.includes(name))
  return own.length > 0 && html`<small>${own.map(({ audience }) => resource(audience)).join(', ')}</small>`
}

function scopeItem({ name, choice }: ConsentView['scopes'][number], index: number, view: ConsentView, tools: Tools) {
  const content = html`${tools.scope(name)}${resourcesOf(name, view, tools)}`
  if (choice !== undefined) {
    const id = `scope-${index}`
    return html`<li class="check"><input id="${id}" name="${choice.field}" type="checkbox" value="yes"${choice.isTicked && html` checked`}><label for="${id}">${content}</label></li>`
  }
  const hasChoice = view.scopes.some((scope) => scope.choice !== undefined)
  return html`<li>${content}${hasChoice && html`<small>${tools.text('consentRequired')}</small>`}</li>`
}

/** The list of what the application gets; with a choice, a group of checkboxes. */
function access(view: ConsentView, tools: Tools): Content {
  const { scopes, claims, problem } = view
  const { text } = tools
  const hasChoice = scopes.some(({ choice }) => choice !== undefined)
  const claimsItem = claims.length > 0 && html`<li>${text('claims', { claims: claims.join(', ') })}</li>`
  const items = html`<ul id="scopes">${scopes.map((scope, index) => scopeItem(scope, index, view, tools))}${claimsItem}</ul>`
  if (!hasChoice) return html`<p>${text('consentIntro')}</p>${items}`
  const described = problem !== undefined && html` aria-describedby="problem"`
  return html`<fieldset${described}><legend>${text('consentIntro')}</legend><p class="muted">${text('consentChoice')}</p>${items}</fieldset>`
}

/** Last on the list: it says how long the access lasts, not what it is. */
const lastingLast = (scopes: ConsentView['scopes']): ConsentView['scopes'] =>
  [...scopes].sort((one, other) => Number(one.name === 'offline_access') - Number(other.name === 'offline_access'))

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
