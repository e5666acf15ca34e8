import { parseConfiguration, quotableName } from '@grantry/core'
import { createLocaleOf } from './locale.ts'
import { languages, localesOf } from './messages/languages.ts'
import type { Messages } from './messages/messages.ts'
import { type PagesOptions, pagesSchema } from './options.ts'
import { templates as ownTemplates, type Templates } from './templates/templates.ts'
import { createLayout, createTools, type Page, type Rendered, type Tools } from './tools.ts'

/** Renders one page in a language. */
type Render<T> = T extends (view: infer V, tools: Tools) => Page ? (view: V, locale: string) => Rendered : never

/** The pages of a sign-in, ready for `authorizationEndpoint()`, `signIn()` and `endSession()`. */
export type Pages = { readonly [Name in keyof Templates]: Render<Templates[Name]> } & {
  /** Chooses among the languages. @param uiLocales the parameter `ui_locales` */
  localeOf(uiLocales: string | undefined, acceptLanguage: string | null): string
}

/** @throws TypeError when a language has an unknown text, which is usually a misspelling. */
export function messagesOf(locale: string, more: Partial<Messages> | undefined): Messages {
  const known = languages[locale] ?? languages[locale.split('-', 1)[0] ?? ''] ?? languages.en
  if (known === undefined) throw new TypeError('There are no English texts')
  const unknown = Object.keys(more ?? {}).find((key) => !Object.hasOwn(known, key))
  if (unknown !== undefined)
    throw new TypeError(`createPages(): messages.${locale} has the unknown text ${quotableName(unknown)}`)
  return { ...known, ...more }
}

/**
 * Creates the pages of a sign-in: plain HTML that works without scripts.
 *
 * @throws TypeError when an option is malformed.
 */
export function createPages(input: PagesOptions & { readonly templates?: Partial<Templates> } = {}): Pages {
  const { templates, ...appearance } = input
  const settings = parseConfiguration(pagesSchema, appearance, 'createPages()')
  const locales = localesOf(settings)
  const framed = createLayout(settings)
  const unframed = createLayout({ ...settings, frameAncestors: [] })
  const toolsByLocale = new Map(
    locales.map((locale) => [locale, createTools(locale, messagesOf(locale, settings.messages[locale]), settings)]),
  )
  const [byDefault = 'en'] = locales
  const toolsFor = (locale: string): Tools => {
    const tools = toolsByLocale.get(locale) ?? toolsByLocale.get(byDefault)
    if (tools === undefined) throw new TypeError('createPages(): locales is empty')
    return tools
  }
  const render = <V>(
    template: (view: V, tools: Tools) => Page,
    layout = framed,
  ): ((view: V, locale: string) => Rendered) => {
    return (view, locale) => layout(template(view, toolsFor(locale)), toolsFor(locale))
  }
  const used: Templates = { ...ownTemplates, ...templates }
  return {
    localeOf: createLocaleOf(locales),
    signIn: render(used.signIn),
    secondFactor: render(used.secondFactor),
    consent: render(used.consent),
    chooseAccount: render(used.chooseAccount),
    // A user opens it, and its cookie is not sent in frames.
    deviceCode: render(used.deviceCode, unframed),
    error: render(used.error),
    formPost: render(used.formPost),
    confirmLogout: render(used.confirmLogout),
    signedOut: render(used.signedOut),
    stillSignedIn: render(used.stillSignedIn),
  }
}
