import type { ConsentView } from '@grantry/plugins/sign-in'
import { type Content, filled, type Html, html } from '../html.ts'
import type { Tools } from '../tools.ts'

type Described = ConsentView['described']

const withHost = (key: 'consentHost' | 'consentReturn' | 'consentHomePage', host: string, { text }: Tools): Html =>
  filled(text(key), { host }, (shown) => html`<strong dir="ltr">${shown}</strong>`)

/** Where the user returns to, or that a program on the device gets the access. */
export const returnLine = (described: Described, tools: Tools): Content =>
  described?.returnsTo === undefined
    ? tools.text('consentDevice')
    : withHost('consentReturn', described.returnsTo, tools)

/**
 * What users need to know about an application that has described itself: any other one can have its name. The hosts are
 * always seen, and that a program gets the access; what explains them is folded.
 *
 * @param returns `false` if the user returns to nothing
 */
export function origin(described: Described, tools: Tools, returns: Content = false): Content {
  if (described === undefined) return false
  const { text } = tools
  const { host, homePage, returnsTo, isKnown } = described
  const published = host !== undefined && withHost('consentHost', host, tools)
  // The document proves its host. Of others, the home page is all there is.
  const home = host === undefined && homePage !== undefined && withHost('consentHomePage', homePage, tools)
  const isOneHost = host !== undefined && host === returnsTo
  const more = [home, isOneHost && returns, !isKnown && text('consentOwnName')].filter((line) => line !== false)
  const details =
    more.length > 0 &&
    html`<details><summary>${text(isKnown ? 'consentAbout' : 'consentUnchecked')}</summary>${more.map((line) => html`<p>${line}</p>`)}</details>`
  const lines = [published, !isOneHost && returns].filter((line) => line !== false)
  return html`<div class="origin" id="origin">${lines.map((line) => html`<p>${line}</p>`)}${details}</div>`
}
