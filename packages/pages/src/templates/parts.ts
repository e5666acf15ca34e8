import { parseUrl } from '@grantry/core'
import { type Content, type Html, html } from '../html.ts'
import type { Tools } from '../tools.ts'
import { isHttps, isImageUrl } from '../urls.ts'
import type { ClientView, ErrorView, FormView } from '../views.ts'

export const nameOf = ({ name, clientId }: ClientView): string => name ?? clientId

export const hiddenFields = (fields: FormView['fields']): Content =>
  Object.entries(fields).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)

/** A form that works without scripts. */
export const form = ({ action, fields }: FormView, content: Content): Html =>
  html`<form method="post" action="${action}">${hiddenFields(fields)}${content}</form>`

const link = (url: string | undefined, text: string, id: string): Content =>
  isHttps(url) && html`<a id="${id}" href="${url}" rel="noreferrer">${text}</a>`

/** The name and logo of the application. */
export function clientLine(client: ClientView, text: string): Html {
  const { logoUri } = client
  return html`<p class="client">${isImageUrl(logoUri) && html`<img src="${logoUri}" alt="">`}<span>${text}</span></p>`
}

/** Links to the terms and the privacy policy of the application. */
export function clientLinks(client: ClientView, { text }: Tools): Content {
  const values = { client: nameOf(client) }
  const links = [
    link(client.policyUri, text('applicationPolicy', values), 'policy'),
    link(client.tosUri, text('applicationTerms', values), 'tos'),
  ]
  return links.some((one) => one !== false) && html`<p class="links">${links}</p>`
}

export const alert = (text: string | undefined): Content =>
  text !== undefined && html`<p role="alert" id="problem">${text}</p>`

/** Links run no script: redirect URIs of native applications have schemes of their own. */
const isLink = (url: string): boolean =>
  !/^(?:javascript|data|vbscript|blob|file|about):/iu.test(url) && parseUrl(url) !== undefined

const wayOn = (id: string, url: string, text: string): Content =>
  isLink(url) && html`<p><a id="${id}" href="${url}" rel="noreferrer">${text}</a></p>`

/** Links with which the user gets on. A page without one would be a dead end. */
export function waysOn(
  { restart, returnTo, home }: Pick<ErrorView, 'restart' | 'returnTo' | 'home'>,
  { text }: Tools,
): readonly Content[] {
  const links = [
    restart !== undefined && wayOn('restart', restart, text('startAgain')),
    returnTo !== undefined && wayOn('return', returnTo.url, text('returnToApplication', { client: returnTo.name })),
  ]
  if (home === undefined || links.some((one) => one !== false)) return links
  return [wayOn('home', home, text('goToHost', { host: new URL(home).host }))]
}
