import { parseUrl } from '@grantry/core'
import { filled, type Html, html } from './html.ts'
import type { PagesSettings } from './pages-options.ts'
import { findTexts, type Messages } from './texts.ts'

const standardScopes: Readonly<Record<string, keyof Messages>> = {
  openid: 'scopeOpenid',
  profile: 'scopeProfile',
  email: 'scopeEmail',
  address: 'scopeAddress',
  phone: 'scopePhone',
  offline_access: 'scopeOfflineAccess',
}

export const isStandardScope = (name: string): boolean => Object.hasOwn(standardScopes, name)

/** A text, and the tag of its language. */
interface Text {
  readonly text: string
  readonly lang: string
}

/** The language tag and those that are more general (RFC 4647 section 3.4): `de-AT`, `de`. */
const rangesOf = (tag: string): readonly string[] =>
  tag
    .toLowerCase()
    .split('-')
    .map((_part, index, parts) => parts.slice(0, parts.length - index).join('-'))

type Described = PagesSettings['scopes'][string]

/** One text is in the default language of the pages. */
export const textsOf = (described: Described | undefined, byDefault: string): readonly Text[] =>
  typeof described === 'string'
    ? [{ text: described, lang: byDefault }]
    : Object.entries(described ?? {}).map(([lang, text]) => ({ text, lang }))

export const textIn = (texts: readonly Text[], locale: string): Text | undefined =>
  rangesOf(locale)
    .map((range) => texts.find(({ lang }) => lang.toLowerCase() === range))
    .find((text) => text !== undefined)

/** The text of this package for a standard scope. The messages of an unknown language can be English. */
function builtInText(
  name: string,
  locale: string,
  messages: Messages,
  { languages, messages: added }: PagesSettings,
): Text | undefined {
  const key = isStandardScope(name) ? standardScopes[name] : undefined
  if (key === undefined) return undefined
  const isTranslated = findTexts(locale, languages) !== undefined || Object.hasOwn(added[locale] ?? {}, key)
  return { text: messages[key], lang: isTranslated ? locale : 'en' }
}

/** The host and path of a URL, which users can compare with the address that they have entered. Another text unchanged. */
function shownAddress(audience: string): string {
  const { protocol, host, pathname, search } = parseUrl(audience) ?? {}
  return protocol === 'https:' ? `${host}${pathname === '/' ? '' : pathname}${search}` : audience
}

/** Returns a function that names an API to a user: by its name in the language of the page or another one, and its address. */
export function createResourceNames(
  locale: string,
  { resources, locales: [byDefault = 'en'] }: PagesSettings,
): (audience: string) => string {
  return (audience) => {
    const texts = textsOf(Object.hasOwn(resources, audience) ? resources[audience] : undefined, byDefault)
    const name = textIn(texts, locale) ?? textIn(texts, byDefault) ?? textIn(texts, 'en') ?? texts[0]
    const address = shownAddress(audience)
    return name === undefined ? address : `${name.text} (${address})`
  }
}

/**
 * Returns a function that describes a scope to a user: in the language of the page if the operator or, for a standard
 * scope, this package has such a text. Otherwise a text of the operator, which says more than the name of a scope; its
 * element names its language, for screen readers and translators.
 */
export function createScopeTexts(locale: string, messages: Messages, settings: PagesSettings): (name: string) => Html {
  const {
    scopes,
    locales: [byDefault = 'en'],
  } = settings
  return (name) => {
    const texts = textsOf(Object.hasOwn(scopes, name) ? scopes[name] : undefined, byDefault)
    const builtIn = builtInText(name, locale, messages, settings)
    const translated = textIn(texts, locale) ?? (builtIn?.lang === locale ? builtIn : undefined)
    if (translated !== undefined) return html`${translated.text}`
    const foreign = textIn(texts, byDefault) ?? textIn(texts, 'en') ?? texts[0] ?? builtIn
    if (foreign === undefined)
      return filled(messages.scopeOther, { scope: name }, (scope) => html`<code dir="ltr">${scope}</code>`)
    return html`<span lang="${foreign.lang}">${foreign.text}</span>`
  }
}
