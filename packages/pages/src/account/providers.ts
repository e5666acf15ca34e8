import type { ConfirmView, OverviewView } from '@grantry/plugins/account'
import { type Content, type Html, html } from '../html.ts'
import { iconOf } from '../templates/icons.ts'
import { entryLink } from './parts.ts'
import type { AccountTools } from './tools.ts'

/** The accounts at other providers. Their names come from there. */
export function linkedOf({ linked }: OverviewView, tools: AccountTools): Content {
  if (linked === undefined) return false
  const { accountText } = tools
  const items = linked.list.map(
    ({ provider, name, remove }) =>
      html`<li class="entry"><div><strong><bdi>${provider}</bdi></strong><small><bdi>${name}</bdi></small></div>${entryLink(remove, accountText('remove'), `${provider}, ${name}`)}</li>`,
  )
  const list = items.length === 0 ? html`<p class="muted">${accountText('providersNone')}</p>` : html`<ul>${items}</ul>`
  const links = linked.add.map(
    ({ provider, url }) =>
      html`<a class="way" href="${url}">${iconOf(undefined, provider)}${accountText('linkProvider', { provider })}</a>`,
  )
  return html`<section aria-labelledby="providers"><h2 id="providers">${accountText('providersTitle')}</h2>${list}${links}</section>`
}

/** A link that leads to another site: browsers do not let a form of this page lead there. */
export function leaveLink(
  { form, back }: Pick<ConfirmView, 'form' | 'back'>,
  label: string,
  { text }: AccountTools,
): Html {
  const url = `${form.action}?${new URLSearchParams(form.fields)}`
  return html`<a class="way primary" id="confirm" href="${url}">${label}</a><p class="links"><a id="cancel" href="${back}">${text('cancel')}</a></p>`
}
