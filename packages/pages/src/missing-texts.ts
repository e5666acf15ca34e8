import { localesOf, type PagesOptions } from './pages-options.ts'
import { isStandardScope, textIn, textsOf } from './scope-texts.ts'
import { en, findTexts } from './texts.ts'

/** A member of the options, and the languages of the pages in which it has no text. */
export interface MissingTexts {
  readonly path: string
  readonly locales: readonly string[]
}

/**
 * Returns the described scopes that have no text in a language of the pages, and the added languages whose pages are
 * partly English.
 */
export function missingTexts(options: PagesOptions): readonly MissingTexts[] {
  const { languages, messages = {}, scopes = {} } = options
  const used = localesOf(options)
  const [byDefault = 'en'] = used
  const isEnglish = (locale: string): boolean =>
    findTexts(locale, { en, ...languages }) === undefined &&
    Object.keys(en.signIn).some((key) => !Object.hasOwn(messages[locale] ?? {}, key))
  const ofScopes = Object.entries(scopes)
    .filter(([name]) => !isStandardScope(name))
    .map(([name, described]) => {
      const texts = textsOf(described, byDefault)
      return { path: `scopes.${name}`, locales: used.filter((locale) => textIn(texts, locale) === undefined) }
    })
  const ofLanguages = used.filter(isEnglish).map((locale) => ({ path: `messages.${locale}`, locales: [locale] }))
  return [...ofScopes, ...ofLanguages].filter(({ locales }) => locales.length > 0)
}
