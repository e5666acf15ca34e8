import type { ConsentView } from '@grantry/plugins/sign-in'
import { type Content, filled, type Html, html } from '../html.ts'
import type { Tools } from '../tools.ts'

type Described = ConsentView['described']

const withHost = (key: 'consentHost' | 'consentReturn' | 'consentHomePage', host: string, { text }: Tools): Html =>
  filled(text(key), { host }, (shown) => html`<strong dir="ltr">${shown}</strong>`)

/** A line that names the host to which the user returns, or states that a program on the device gets the access. */
export const returnLine = (described: Described, tools: Tools): Content =>
  described?.returnsTo === undefined
    ? tools.text('consentDevice')
    : withHost('consentReturn', described.returnsTo, tools)

/**
 * The facts that users need about a self-described application, because any other application can have its name. The
 * hosts, and that a program gets the access, are always visible; the explanations are folded.
 *
 * @param returns `false` if the user returns to nothing
 */
export function origin(described: Described, tools: Tools, returns: Content = false): Content {
  if (described === undefined) return false
  const { text } = tools
  const { host, homePage, returnsTo, isKnown } = described
  const published = host !== undefined && withHost('consentHost', host, tools)
  // A metadata document proves its host. Of other clients, only the home page is known.
  const home = host === undefined && homePage !== undefined && withHost('consentHomePage', homePage, tools)
  const isOneHost = host !== undefined && host === returnsTo
  const more = [home, isOneHost && returns, !isKnown && text('consentOwnName')].filter((line) => line !== false)
  const details =
    more.length > 0 &&
    html`<details><summary>${text(isKnown ? 'consentAbout' : 'consentUnchecked')}</summary>${more.map((line) => html`<p>${line}</p>`)}</details>`
  const lines = [published, !isOneHost && returns].filter((line) => line !== false)
  return html`<div class="origin" id="origin">${lines.map((line) => html`<p>${line}</p>`)}${details}</div>`
}
