interface Preference {
  readonly tag: string
  readonly weight: number
}

/** Tags beyond these are ignored: a header can contain thousands. */
const maxTags = 20
/** Characters. RFC 5646 section 4.4.1 recommends room for 35; the look-up reads a tag once for each of its parts. */
const maxTagLength = 35
/** Characters. Longer lists are ignored. */
const maxLength = 1000

/** @see RFC 9110 section 12.5.4 */
const preferencesOf = (header: string): readonly Preference[] =>
  header
    .split(',', maxTags)
    .map((part) => {
      const [tag = '', ...parameters] = part.trim().split(';')
      const weight = parameters.map((parameter) => /^\s*q=(\d(?:\.\d{0,3})?)$/u.exec(parameter)?.[1]).find(Boolean)
      return { tag: tag.trim(), weight: weight === undefined ? 1 : Number(weight) }
    })
    .filter(({ tag, weight }) => tag !== '' && weight > 0)
    .sort((left, right) => right.weight - left.weight)

const shortEnough = (list: string | null | undefined): string =>
  list === undefined || list === null || list.length > maxLength ? '' : list

/** Finds a language for a tag by shortening it (RFC 4647 section 3.4): `de-AT` finds `de`. */
export function lookUp(tag: string, locales: ReadonlyMap<string, string>): string | undefined {
  for (let range = tag.toLowerCase(); range !== ''; range = range.slice(0, Math.max(0, range.lastIndexOf('-')))) {
    const locale = locales.get(range)
    if (locale !== undefined) return locale
  }
  return undefined
}

/**
 * Returns a function that chooses a language: by `ui_locales`, which are in order of preference, then by
 * `Accept-Language`. The first of the languages is the default.
 */
export function createLocaleOf(
  locales: readonly string[],
): (uiLocales: string | undefined, acceptLanguage: string | null) => string {
  const byTag = new Map(locales.map((locale) => [locale.toLowerCase(), locale]))
  const [byDefault = 'en'] = locales
  return (uiLocales, acceptLanguage) => {
    const requested = shortEnough(uiLocales).split(' ', maxTags)
    const accepted = preferencesOf(shortEnough(acceptLanguage)).map(({ tag }) => tag)
    for (const tag of [...requested, ...accepted]) {
      if (tag.length > maxTagLength) continue
      const locale = lookUp(tag, byTag)
      if (locale !== undefined) return locale
    }
    return byDefault
  }
}
