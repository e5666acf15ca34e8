import { lookUp } from './locale.ts'
import english from './texts/en.json' with { type: 'json' }

/** English, with which all pages begin. A copy: the declarations then have its type, and import no JSON. */
export const en = { ...english }

/** All texts of a language: of the sign-in, of the page of the account, and of mails with their pages. `{client}` and other names in braces are replaced. */
export type Texts = typeof en
/** The texts of the sign-in. */
export type Messages = Texts['signIn']

/** Texts by language tag. */
export type Languages = Readonly<Record<string, Texts>>

/** Finds the texts of a locale: those of its tag, or of a more general one (RFC 4647 section 3.4). */
export function findTexts(
  locale: string,
  languages: Languages,
): { readonly tag: string; readonly texts: Texts } | undefined {
  const tags = new Map(Object.keys(languages).map((tag) => [tag.toLowerCase(), tag]))
  const tag = lookUp(locale, tags)
  const texts = tag === undefined ? undefined : languages[tag]
  return tag === undefined || texts === undefined ? undefined : { tag, texts }
}

/** Replaces the names in braces. The result is text, not markup. */
export const fill = (text: string, values: Readonly<Record<string, string>>): string =>
  text.replace(/\{(\w+)\}/gu, (whole, name) => (Object.hasOwn(values, name) ? (values[name] ?? '') : whole))

const rightToLeft: ReadonlySet<string> = new Set(['ar', 'ckb', 'dv', 'fa', 'he', 'ps', 'sd', 'ug', 'ur', 'yi'])

/** The direction of a language. Not `dir="auto"`: the name of the service comes first on a page, and is often Latin. */
export const directionOf = (locale: string): 'ltr' | 'rtl' =>
  rightToLeft.has(locale.toLowerCase().split('-', 1)[0] ?? '') ? 'rtl' : 'ltr'
