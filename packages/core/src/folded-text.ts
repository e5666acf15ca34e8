import { parseUrl } from './parse-url.ts'
import { unicodeDomain } from './punycode.ts'

// Folds what users type, paste, or let a program fill in to one form. Every rule, look-up, index, limit and
// comparison uses these functions: where two of them fold in different ways, a spelling passes one of them.

/** Characters. Unicode normalization sorts marks, in time that grows with the square of their number. */
const maxLength = 1024

/** Characters that no user sees. They come along when a name is copied from a page or a chat. */
const invisible = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu

const isBlank = (character: string): boolean => /^[\s\p{Cf}\p{Default_Ignorable_Code_Point}]$/u.test(character)

const visibleAscii = /^[!-~]*$/u

/**
 * Returns a name or an address in Unicode form C, without white space and invisible characters around it. Case and
 * width stay. A text that is too long for a name is returned unchanged.
 */
export function typedName(text: string): string {
  if (text.length > maxLength || visibleAscii.test(text)) return text
  const characters = [...text]
  let start = 0
  let end = characters.length
  while (start < end && isBlank(characters[start] ?? '')) start += 1
  while (start < end && isBlank(characters[end - 1] ?? '')) end -= 1
  return characters.slice(start, end).join('').normalize('NFC')
}

/** What a host name can contain. The parser of URLs would decode or remove other characters. */
const domainForm = /^[\p{L}\p{M}\p{N}\p{Default_Ignorable_Code_Point}._-]+$/u

const isNumber = (label: string | undefined): boolean => /^(?:\d+|0x[\da-f]*)$/iu.test(label ?? '')

/** Without the dots of the root, also those that were typed twice. A regular expression would try every dot. */
function withoutRoot(domain: string): string {
  let end = domain.length
  while (domain[end - 1] === '.') end -= 1
  return domain.slice(0, end)
}

/** Rounds after which a text has settled: Unicode forms and cases of some letters depend on each other. */
const maxRounds = 6

/**
 * Returns a fold that changes nothing the second time: what is stored folded, and folded again by its reader, stays the same.
 * Cuts texts that are too long.
 *
 * @param usual returns what `fold` settles at for the usual texts, in a fraction of the time; `undefined` for any other
 */
const settled =
  (fold: (text: string) => string, usual: (text: string) => string | undefined) =>
  (typed: string): string => {
    const text = typed.length > maxLength ? typed.slice(0, maxLength) : typed
    const settledAt = usual(text)
    if (settledAt !== undefined) return settledAt
    let folded = fold(text)
    for (let [round, before] = [1, typed]; round < maxRounds && folded !== before; round += 1) {
      before = folded
      folded = fold(before.slice(0, maxLength))
    }
    return folded
  }

/** Returns the form of a domain in ASCII, if it has no encoded letters. */
function usualDomain(domain: string): string | undefined {
  const lower = domain.toLowerCase()
  return /^[a-z0-9._-]*$/u.test(lower) && !lower.includes('xn--') ? withoutRoot(lower) : undefined
}

/** Other dots that separate labels. @see RFC 3490 section 3.1 */
const dots = /\u3002/gu

/** The host of a URL with this domain: in ASCII. `undefined` if the parser accepts none, or reads it as an IP address. */
function asciiDomain(domain: string): string | undefined {
  const host = domainForm.test(domain) ? parseUrl(`http://${domain}`)?.hostname : undefined
  const labels = host === undefined ? undefined : withoutRoot(host).split('.')
  return labels === undefined || isNumber(labels.at(-1)) ? undefined : labels.join('.')
}

/**
 * Maps a domain in any case, width and encoding to one text, with letters as users write them.
 *
 * @see Unicode Technical Standard 46; RFC 5891 section 4.4
 * @example
 * foldedDomain('xn--bcher-kva.EXAMPLE') // 'bücher.example'
 */
export const foldedDomain = /* @__PURE__ */ settled((domain) => {
  const text = domain.normalize('NFKC').replace(dots, '.')
  // Replaces the sigma explicitly: `toLowerCase()` would write its final form at the end of a word, which makes
  // another domain.
  const lower = withoutRoot(text.replaceAll('Σ', 'σ').toLowerCase())
  const usual = usualDomain(lower)
  if (usual !== undefined) return usual
  const host = asciiDomain(text)
  return host === undefined ? lower : unicodeDomain(host)
}, usualDomain)

/** Splits a text in Unicode form KC at the sign before the domain. */
function partsOf(text: string): readonly [name: string, domain: string | undefined] {
  const at = text.lastIndexOf('@')
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)]
}

const joined = (name: string, domain: string | undefined): string =>
  domain === undefined ? name : `${name}@${foldedDomain(domain)}`

/** The capital of a Turkish i has a dot, which its small form does not show. */
const dotted = /i\u0307+/gu

/**
 * The capital form of the iota subscript is a letter, not a mark. Without this rule, a name with it would have
 * several limits for guesses.
 */
const iotaSubscript = '\u0345'

/** Returns the folded form of a name in ASCII. */
function usualName(text: string): string | undefined {
  if (!visibleAscii.test(text)) return undefined
  const [name, domain] = partsOf(text)
  if (domain === undefined) return name.toLowerCase()
  const usual = usualDomain(domain)
  return usual === undefined ? undefined : `${name.toLowerCase()}@${usual}`
}

// Lower case first, because only this maps the capital sharp s to SS.
const withoutCase = (text: string): string => text.toLowerCase().toUpperCase().toLowerCase().replace(dotted, 'i')

/**
 * Maps all spellings of a user name to one text: other cases, Unicode forms, spaces around it, invisible characters, and, if
 * it is a mail address, other encodings of its domain. Accents count: with and without one, it is the name of another user.
 *
 * @example
 * foldedUsername(' Ann@XN--BCHER-KVA.example') // 'ann@bücher.example'
 */
export const foldedUsername = /* @__PURE__ */ settled((username) => {
  const [name, domain] = partsOf(username.replace(invisible, '').trim().normalize('NFKC'))
  const folded = name.normalize('NFKD').split(iotaSubscript).map(withoutCase).join(iotaSubscript).normalize('NFKC')
  return joined(folded, domain)
}, usualName)

/**
 * Maps all spellings of a mail address to one text. Only spellings with the same text are one address, also for a store that
 * ignores more, such as accents or the difference between `ß` and `ss`: each of the others is another mailbox.
 */
export const foldedAddress = /* @__PURE__ */ settled((address) => {
  const [name, domain] = partsOf(typedName(address).normalize('NFKC'))
  return joined(name.toLowerCase().replaceAll('ς', 'σ').replace(dotted, 'i').normalize('NFKC'), domain)
}, usualName)

export const isSameAddress = (left: string, right: string): boolean => foldedAddress(left) === foldedAddress(right)

/** Returns the domain of a mail address, or of a name that is one, as `foldedDomain()`; `undefined` if it has none. */
export function domainOf(text: string): string | undefined {
  const [, domain] = partsOf(foldedUsername(text))
  return domain === undefined || domain === '' ? undefined : domain
}

/**
 * Returns the texts under which a database of others can have a name: as typed, folded, and with the domain of an address in
 * ASCII. The first is the most exact.
 *
 * @param isCaseSensitive whether names in other cases are those of other users
 */
export function spellingsOf(username: string, isCaseSensitive = false): readonly string[] {
  const typed = typedName(username.slice(0, maxLength))
  const [name, domain] = partsOf(typed.normalize('NFKC'))
  const names = isCaseSensitive ? [joined(name, domain)] : [joined(name, domain), foldedUsername(typed)]
  const ascii = domain === undefined ? undefined : asciiDomain(domain)
  const all = [
    typed,
    ...names,
    ...(ascii === undefined ? [] : names.map((spelling) => `${partsOf(spelling)[0]}@${ascii}`)),
  ]
  // Databases ignore the case of ASCII themselves.
  const seen = new Set<string>()
  return all.filter((spelling) => {
    const key = isCaseSensitive ? spelling : spelling.replaceAll(/[A-Z]/gu, (letter) => letter.toLowerCase())
    return !seen.has(key) && seen.add(key)
  })
}

/**
 * Format and control characters, combining and enclosing marks, fillers and white space: invisible characters that a
 * user service may ignore.
 */
const ignorable = /[\p{Cf}\p{Cc}\p{Mn}\p{Me}\p{Default_Ignorable_Code_Point}\s]/gu

/**
 * Maps all spellings of a name to one string, under which failures are counted. If the user service ignores case, marks
 * or invisible characters, each spelling would otherwise have its own limit. Names that map to the same string only
 * share a limit.
 *
 * @example
 * foldedName('\u00C1l\u00ADice ') // 'ALICE'
 */
export const foldedName = /* @__PURE__ */ settled(
  // Lower case before upper case, because only this maps the capital sharp s to SS.
  (name) => name.normalize('NFKD').replace(ignorable, '').toLowerCase().toUpperCase(),
  (name) => (visibleAscii.test(name) ? name.toUpperCase() : undefined),
)

/** Spaces of other alphabets: keyboards and programs write them where another one writes an ASCII space. */
const spaces = /\p{Zs}/gu

/**
 * Maps all forms in which devices send the same password to one text. A password has no other folding: case and width count.
 *
 * @see RFC 8265 section 4.2 (OpaqueString)
 */
export const foldedPassword = (password: string): string => password.replace(spaces, ' ').normalize('NFC')
