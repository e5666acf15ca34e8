import { parseUrl } from '@grantry/core'
import type { ErrorView } from '@grantry/plugins/authorization-endpoint'
import type { ClientView, FormView } from '@grantry/plugins/sign-in'
import { type Content, type Html, html } from '../html.ts'
import type { Tools } from '../tools.ts'
import { isHttps, isImageUrl } from '../urls.ts'

export const nameOf = ({ name, clientId }: ClientView): string => name ?? clientId

/** A line that names the application to which the user continues. No application has the id of the account page. */
export const continuing = (client: ClientView, { text, rich }: Pick<Tools, 'text' | 'rich'>): Content =>
  client.clientId === 'urn:grantry:account-page'
    ? text('signInToAccount')
    : rich('signInIntro', { client: nameOf(client) })

export const hiddenFields = (fields: FormView['fields']): Content =>
  Object.entries(fields).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)

/** A form that works without scripts. */
export const form = ({ action, fields }: Pick<FormView, 'action' | 'fields'>, content: Content): Html =>
  html`<form method="post" action="${action}">${hiddenFields(fields)}${content}</form>`

/**
 * The text that `formScript` shows when the form was sent, and the page is still there because an application has
 * opened.
 */
export const opened = ({ opensApplication }: Pick<FormView, 'opensApplication'>, { text }: Tools): Content =>
  opensApplication === true && html`<p id="opened" role="status" data-text="${text('applicationOpened')}"></p>`

const link = (url: string | undefined, text: string, id: string): Content =>
  isHttps(url) && html`<a id="${id}" href="${url}" rel="noreferrer">${text}</a>`

/** The first letter of a name. */
export const initialOf = (name: string): string => [...name][0]?.toUpperCase() ?? ''

/**
 * The logo of the application. An image with an empty `alt` that is not loaded has no size, so the initial is seen. A
 * loaded image moves it to the next line, which is hidden.
 */
const logoOf = (client: ClientView): Content =>
  isImageUrl(client.logoUri) &&
  html`<span class="logo"><img src="${client.logoUri}" alt=""><span aria-hidden="true">${initialOf(nameOf(client))}</span></span>`

/** A text about the application, beside its logo. */
export const clientLine = (client: ClientView, text: Content): Html =>
  html`<p class="client">${logoOf(client)}<span>${text}</span></p>`

/** The heading of a page about an application, beside its logo, with a line about it. */
export function heading(client: ClientView, title: Content, line?: Content): Content {
  const logo = logoOf(client)
  const texts = html`<h1>${title}</h1>${line !== undefined && html`<p class="client">${line}</p>`}`
  return logo === false ? texts : html`<div class="title">${logo}<div>${texts}</div></div>`
}

/** Who is signed in. Never beside the logo of the application, which would look like the picture of the user. */
export const userLine = (name: string | undefined, { rich }: Tools): Content =>
  name !== undefined && html`<p class="muted" id="user">${rich('signedInAs', { name })}</p>`

/** Links to the terms and the privacy policy of the application. */
export function clientLinks(client: ClientView, { text }: Tools): Content {
  const values = { client: nameOf(client) }
  const links = [
    link(client.policyUri, text('applicationPolicy', values), 'policy'),
    link(client.tosUri, text('applicationTerms', values), 'tos'),
  ]
  return links.some((entry) => entry !== false) && html`<p class="links">${links}</p>`
}

export const alert = (text: string | undefined): Content =>
  text !== undefined && html`<p role="alert" id="problem">${text}</p>`

/** Links run no script: redirect URIs of native applications have schemes of their own. */
const isLink = (url: string): boolean =>
  !/^(?:javascript|data|vbscript|blob|file|about):/iu.test(url) && parseUrl(url) !== undefined

const wayOn = (id: string, url: string, text: string): Content =>
  isLink(url) && html`<a id="${id}" href="${url}" class="way" rel="noreferrer">${text}</a>`

/** Links with which the user can continue. A page without one would be a dead end. */
export function waysOn(
  { restart, returnTo, home }: Pick<ErrorView, 'restart' | 'returnTo' | 'home'>,
  { text }: Tools,
): readonly Content[] {
  const links = [
    restart !== undefined && wayOn('restart', restart, text('startAgain')),
    returnTo !== undefined && wayOn('return', returnTo.url, text('returnToApplication', { client: returnTo.name })),
  ]
  if (home === undefined || links.some((entry) => entry !== false)) return links
  return [wayOn('home', home, text('goToHost', { host: new URL(home).host }))]
}
