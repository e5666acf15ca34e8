import type { ConsentView } from '@grantry/plugins/sign-in'
import { type Content, html } from '../html.ts'
import type { Tools } from '../tools.ts'

/** The access that an application gets. */
export type AccessView = Pick<ConsentView, 'scopes' | 'resources' | 'claims' | 'problem'>

/** The API of all scopes, if there is only one. With several, each scope names its own. */
export function onlyResource({ resources }: AccessView, { rich, resource }: Tools): Content {
  const [only, ...others] = resources
  if (only === undefined || others.length > 0) return false
  return html`<p id="resource">${rich('consentResource', { resource: resource(only.audience) })}</p>`
}

/** The APIs of a scope, if the request is for several. */
function resourcesOf(name: string, { resources }: AccessView, { resource }: Tools): Content {
  if (resources.length < 2) return false
  const matching = resources.filter(({ scopes }) => scopes.includes(name))
  return matching.length > 0 && html`<small>${matching.map(({ audience }) => resource(audience)).join(', ')}</small>`
}

function scopeItem({ name, choice }: AccessView['scopes'][number], index: number, view: AccessView, tools: Tools) {
  const content = html`${tools.scope(name)}${resourcesOf(name, view, tools)}`
  if (choice !== undefined) {
    const id = `scope-${index}`
    return html`<li class="check"><input id="${id}" name="${choice.field}" type="checkbox" value="yes"${choice.isTicked && html` checked`}><label for="${id}">${content}</label></li>`
  }
  const hasChoice = view.scopes.some((scope) => scope.choice !== undefined)
  return html`<li>${content}${hasChoice && html`<small>${tools.text('consentRequired')}</small>`}</li>`
}

/** The list of the scopes that the application gets; with a choice, a group of checkboxes. */
export function access(view: AccessView, tools: Tools): Content {
  const { scopes, claims, problem } = view
  const { text } = tools
  const hasChoice = scopes.some(({ choice }) => choice !== undefined)
  const claimsItem = claims.length > 0 && html`<li>${text('claims', { claims: claims.join(', ') })}</li>`
  const items = html`<ul id="scopes">${scopes.map((scope, index) => scopeItem(scope, index, view, tools))}${claimsItem}</ul>`
  if (!hasChoice) return html`<p>${text('consentIntro')}</p>${items}`
  const described = problem !== undefined && html` aria-describedby="problem"`
  return html`<fieldset${described}><legend>${text('consentIntro')}</legend><p class="muted">${text('consentChoice')}</p>${items}</fieldset>`
}

/** Puts `offline_access` last, because it states how long the access lasts, not what it is. */
export const lastingLast = (scopes: AccessView['scopes']): AccessView['scopes'] =>
  [...scopes].sort((left, right) => Number(left.name === 'offline_access') - Number(right.name === 'offline_access'))
