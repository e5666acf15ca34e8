import { quotableName } from '@grantry/core'
import { createLocaleOf } from './locale.ts'
import type { PagesSettings } from './pages-options.ts'
import { en, fill, findTexts, type Messages, type Texts } from './texts.ts'
import { createLayout, createTools, type Layout, type Page, type Rendered, type Tools } from './tools.ts'

/** The tools of the templates of a set in one language. */
interface InLanguage<Own> {
  readonly shared: Tools
  readonly tools: Own
}

/** The language of a set: the texts of a locale, and the tag of the language that they are written in. */
export interface Language {
  readonly tag: string
  readonly texts: Texts
}

/** The names of the pages of a plugin. Mails have no frame. */
type PageName<Pages> = Exclude<keyof Pages, 'localeOf' | 'mail' | 'addressMail'>

type ViewOf<Page> = Page extends (view: infer View, locale: string) => unknown ? View : never

/** The content of the pages of a plugin. */
export type TemplatesOf<Pages, Tools> = {
  readonly [Name in PageName<Pages>]: (view: ViewOf<Pages[Name]>, tools: Tools) => Page
}

/** The pages of a plugin as this package renders them. */
export type Framed<Pages> = Omit<Pages, PageName<Pages>> & {
  readonly [Name in PageName<Pages>]: (view: ViewOf<Pages[Name]>, locale: string) => Rendered
}

/** Templates as functions that render their pages. */
type RenderersOf<Templates> = {
  readonly [Name in keyof Templates]: Templates[Name] extends (view: infer View, tools: never) => Page
    ? (view: View, locale: string) => Rendered
    : never
}

/** Returns a function that finds a text of a set, and replaces the names in it. */
export const ownTexts =
  <Set extends Readonly<Record<string, string>>>(texts: Set) =>
  (key: keyof Set & string, values: Readonly<Record<string, string>> = {}): string =>
    fill(texts[key] ?? '', values)

/** @throws TypeError when a language has an unknown text, which is usually a misspelling. */
function messagesOf(locale: string, known: Messages, more: Partial<Messages> = {}): Messages {
  const unknown = Object.keys(more).find((key) => !Object.hasOwn(known, key))
  if (unknown !== undefined)
    throw new TypeError(`createPages(): messages.${locale} has the unknown text ${quotableName(unknown)}`)
  return { ...known, ...more }
}

/**
 * Prepares a set of pages in all its languages. @param ownTools adds the functions that only the templates of this set
 * use
 */
export function createPageSet<Own>(settings: PagesSettings, ownTools: (shared: Tools, language: Language) => Own) {
  const byLocale = new Map(
    settings.locales.map((locale): [string, InLanguage<Own>] => {
      const language = findTexts(locale, settings.languages) ?? { tag: 'en', texts: en }
      const messages = messagesOf(locale, language.texts.signIn, settings.messages[locale])
      const shared = createTools(locale, messages, settings)
      return [locale, { shared, tools: ownTools(shared, language) }]
    }),
  )
  const inLanguage = (locale: string): InLanguage<Own> => {
    const language = byLocale.get(locale) ?? byLocale.get(settings.locales[0] ?? 'en')
    if (language === undefined) throw new TypeError('There are no languages')
    return language
  }
  const renderer = (template: (view: never, tools: Own) => Page, layout: Layout) => (view: never, locale: string) => {
    const { shared, tools } = inLanguage(locale)
    return layout(template(view, tools), shared)
  }
  return {
    localeOf: createLocaleOf(settings.locales),
    toolsFor: (locale: string): Own => inLanguage(locale).tools,
    renderers: <Templates extends { readonly [Name in keyof Templates]: (view: never, tools: Own) => Page }>(
      templates: Templates,
      frameAncestors = settings.frameAncestors,
    ): RenderersOf<Templates> => {
      const layout = createLayout({ ...settings, frameAncestors })
      const all = Object.entries<(view: never, tools: Own) => Page>(templates)
      return Object.fromEntries(
        all.map(([name, template]) => [name, renderer(template, layout)]),
      ) as RenderersOf<Templates>
    },
  }
}
