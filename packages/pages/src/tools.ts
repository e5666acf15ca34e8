import { type HtmlSources, webRuntime } from '@grantry/core'
import type { ClientView } from '@grantry/plugins/sign-in'
import { type Content, filled, filledTitle, type Html, html, textOf, trusted } from './html.ts'
import type { PagesSettings } from './pages-options.ts'
import { createResourceNames, createScopeTexts } from './scope-texts.ts'
import { styleSheet } from './style.ts'
import { directionOf, fill, type Messages } from './texts.ts'
import { isImageUrl } from './urls.ts'

/** A page. */
export interface Rendered {
  readonly html: string
  readonly sources: HtmlSources
}

/** The functions that a template can use. */
export interface Tools {
  readonly locale: string
  /** Returns a text in the language of the page. */
  text(key: keyof Messages, values?: Readonly<Record<string, string>>): string
  /** Like `text`, as markup: the direction of a value does not change that of the text. */
  rich(key: keyof Messages, values: Readonly<Record<string, string>>): Html
  /** Like `rich`, for a heading, in which the style keeps a name in one line. */
  title(key: keyof Messages, values: Readonly<Record<string, string>>): Html
  /** Describes a scope to a user. The element names the language if the text is not in that of the page. */
  scope(name: string): Html
  /** Names an API to a user. */
  resource(audience: string): string
}

/** The content of a page, and its additional sources. */
export interface Page {
  readonly title: string
  readonly content: Content
  readonly client?: ClientView | undefined
  readonly formTargets?: readonly string[] | undefined
  /** An inline script. A constant of the program. */
  readonly script?: string | undefined
}

/** The source of an inline element in a content security policy. */
const hashSource = (text: string): string =>
  `'sha256-${btoa(String.fromCharCode(...webRuntime.sha256(new TextEncoder().encode(text))))}'`

export const createTools = (locale: string, messages: Messages, settings: PagesSettings): Tools => ({
  locale,
  text: (key, values) => (values === undefined ? messages[key] : fill(messages[key], values)),
  rich: (key, values) => filled(messages[key], values),
  title: (key, values) => filledTitle(messages[key], values),
  scope: createScopeTexts(locale, messages, settings),
  resource: createResourceNames(locale, settings),
})

/** The source of an image: its origin, or `data:`. Nothing else of the host can be loaded. */
const imageSource = (url: string): string => (url.startsWith('data:') ? 'data:' : new URL(url).origin)

export type Layout = (page: Page, tools: Tools) => Rendered

/** The style of pages in a colour, and its source in the policy. */
interface Look {
  readonly element: Html
  readonly source: string
}

/** Colours of applications whose styles are kept. A style has 12 kB. */
const maxLooks = 100

/** Checks a colour of the host, because it becomes part of a style. */
const isColor = (color: string | undefined): color is string => /^#[\da-f]{6}$/iu.test(color ?? '')

/** Creates the frame of all pages. Everything constant is computed once. */
export function createLayout({ name, logo, links, colors, frameAncestors }: PagesSettings): Layout {
  const looks = new Map<string, Look>()
  const lookOf = (color: string | undefined): Look => {
    const accent = isColor(color) ? color.toLowerCase() : colors.accent
    const known = looks.get(accent)
    if (known !== undefined) return known
    const style = styleSheet({ ...colors, accent })
    const look = { element: trusted(`<style>${style}</style>`), source: hashSource(style) }
    if (looks.size >= maxLooks) looks.clear()
    looks.set(accent, look)
    return look
  }
  const scriptSources = new Map<string, string>()
  const sourceOf = (script: string): string => {
    const known = scriptSources.get(script) ?? hashSource(script)
    scriptSources.set(script, known)
    return known
  }
  const header =
    (name !== undefined || logo !== undefined) &&
    html`<header>${logo !== undefined && html`<img src="${logo}" alt="${name === undefined ? 'Logo' : ''}">`}${name !== undefined && html`<span>${name}</span>`}</header>`
  const footerOf = ({ text }: Tools): Html | false => {
    const items = (['privacy', 'terms', 'support'] as const).map(
      (key) => links[key] !== undefined && html`<a href="${links[key]}">${text(key)}</a>`,
    )
    return items.some((item) => item !== false) && html`<footer>${items}</footer>`
  }

  return ({ title, content, client, formTargets, script }, tools) => {
    const look = lookOf(client?.color)
    const clientLogo = isImageUrl(client?.logoUri) ? client.logoUri : undefined
    const images = [logo, clientLogo].filter((url) => url !== undefined).map(imageSource)
    const page = html`<!doctype html>
<html lang="${tools.locale}" dir="${directionOf(tools.locale)}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex"><title>${name === undefined ? title : `${title} · ${name}`}</title>${look.element}</head>
<body><main>${header}${content}</main>${footerOf(tools)}${script !== undefined && trusted(`<script>${script}</script>`)}</body></html>`
    return {
      html: textOf(page),
      sources: {
        style: [look.source],
        ...(images.length > 0 && { image: [...new Set(images)] }),
        ...(formTargets !== undefined && formTargets.length > 0 && { form: formTargets }),
        ...(script !== undefined && { script: [sourceOf(script)] }),
        ...(frameAncestors.length > 0 && { ancestor: frameAncestors }),
      },
    }
  }
}
