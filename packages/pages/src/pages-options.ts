import { configurationObject, isObject, parseConfiguration } from '@grantry/core'
import * as v from 'valibot'
import { en, findTexts, type Languages, type Messages, type Texts } from './texts.ts'
import { isHttps, isImageUrl } from './urls.ts'

const text = (most: number) =>
  v.pipe(v.string('must be a string'), v.maxLength(most, `must have at most ${most} characters`))

const color = v.pipe(
  v.string('must be a string'),
  v.regex(/^#[\da-fA-F]{6}$/u, 'must be a colour with six hexadecimal digits, such as #1f4fd8'),
)

const link = v.optional(
  v.pipe(
    text(2000),
    v.check((url) => isHttps(url), 'must be an https URL'),
  ),
)

/** An image in the page itself needs no request. SVG can contain scripts, which browsers do not run in images. */
const dataImage = /^data:image\/(?:png|jpeg|webp|gif|svg\+xml);base64,[A-Za-z\d+/]+=*$/u
const logo = v.pipe(
  text(100_000),
  v.check(
    (url) => isImageUrl(url) || dataImage.test(url),
    'must be an https URL with a host of letters, digits, hyphens and dots, or data:image/...;base64,...',
  ),
)

const origin = v.pipe(
  text(300),
  v.regex(
    /^https:\/\/[a-z\d](?:[a-z\d.-]*[a-z\d])?(?::\d{1,5})?$/u,
    'must be an https origin, such as https://portal.example.com',
  ),
)

/** Well-formed by RFC 5646, as it becomes the language of the page. */
function isLanguageTag(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length === 1
  } catch {
    return false
  }
}

const noTag = 'must be a language tag of BCP 47, such as de or pt-BR'
const languageTag = v.pipe(
  v.string('must be a string'),
  v.maxLength(35, 'must have at most 35 characters'),
  v.regex(/^[A-Za-z]{2,8}(?:-[A-Za-z\d]{1,8})*$/u, noTag),
  v.check(isLanguageTag, noTag),
)

const languagesSchema = v.record(languageTag, v.custom<Partial<Texts>>(isObject, 'must be an object of texts'))

const described = v.record(v.string(), v.union([text(300), v.record(languageTag, text(300))]))

const colorsSchema = configurationObject({
  /** The colour of buttons. Their text is black or white, whichever is easier to read. */
  accent: v.optional(color, '#1f4fd8'),
  /** The colour behind the card, in light mode. */
  background: v.optional(color, '#f4f5f8'),
})

/** The appearance, as data. */
export const pagesSchema = configurationObject({
  /** The name of the service, in the header. */
  name: v.optional(text(100)),
  logo: v.optional(logo),
  colors: v.optional(colorsSchema, {}),
  links: v.optional(configurationObject({ privacy: link, terms: link, support: link }), {}),
  /** The https origins whose pages can show the sign-in in a frame. They can hide what users click. Default: none. */
  frameAncestors: v.optional(v.pipe(v.array(origin, 'must be an array of origins'), v.maxLength(20)), []),
  /** The languages, of which the first is the default. Default: all that the pages have. */
  locales: v.optional(v.pipe(v.array(languageTag, 'must be an array of language tags'), v.minLength(1))),
  /** Texts for a language tag. Those of an unknown language replace the English ones. */
  messages: v.optional(v.record(languageTag, v.record(v.string(), text(1000))), {}),
  /** What scopes permit, as shown to users: one text, in the default language, or one for each language tag. */
  scopes: v.optional(described, {}),
  /** The names of APIs, by the `audience` of their scopes, as for `scopes`. Default: their hosts and paths. */
  resources: v.optional(described, {}),
})

/** The appearance of the pages. */
export interface PagesOptions extends Omit<v.InferInput<typeof pagesSchema>, 'messages'> {
  /** Texts for a language tag. Those of an unknown language replace the English ones. */
  readonly messages?: Readonly<Record<string, Partial<Messages>>> | undefined
  /** Languages beside English, by their tags: exports of `@grantry/pages/languages`, or your own. Default: none. */
  readonly languages?: Languages | undefined
}

/** The options with their defaults. */
export interface PagesSettings extends Omit<v.InferOutput<typeof pagesSchema>, 'locales'> {
  readonly locales: readonly string[]
  readonly languages: Languages
}
export type Colors = PagesSettings['colors']

/** The exports of `@grantry/pages/languages`. A program that names one without its texts would have English pages. */
const exported = ['de', 'fr', 'es', 'pt', 'it', 'nl', 'pl', 'zh', 'ja', 'ko', 'ar']

/** The languages of pages with these options. The first is the default. */
export const localesOf = ({ locales, languages, messages }: PagesOptions): readonly string[] =>
  locales ?? [...new Set(['en', ...Object.keys(languages ?? {}), ...Object.keys(messages ?? {})])]

/** Programs without types, and files of earlier versions, can lack texts. Users get the English ones. */
const completed = ({ signIn, account, mails }: Partial<Texts> = {}): Texts => ({
  signIn: { ...en.signIn, ...signIn },
  account: { ...en.account, ...account },
  mails: { ...en.mails, ...mails },
})

/** @throws TypeError when an option is malformed, or a language of this package is named without its texts. */
export function settingsOf({ languages, ...appearance }: PagesOptions, where: string): PagesSettings {
  const settings = parseConfiguration(pagesSchema, appearance, where)
  parseConfiguration(languagesSchema, languages ?? {}, `${where}: languages`)
  const locales = localesOf({ ...settings, languages })
  const added = Object.entries(languages ?? {}).map(([tag, texts]): [string, Texts] => [tag, completed(texts)])
  const all = { en, ...Object.fromEntries(added) }
  const absent = locales.find((locale) => {
    const [primary = ''] = locale.toLowerCase().split('-', 1)
    return exported.includes(primary) && findTexts(locale, all) === undefined
  })
  if (absent !== undefined)
    throw new TypeError(
      `${where}: the option languages has no texts for ${absent}, which @grantry/pages/languages exports`,
    )
  return { ...settings, locales, languages: all }
}
