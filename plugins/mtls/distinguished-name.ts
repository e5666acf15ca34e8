import { contentOf, type DerValue, objectIdentifier, readAll, tags } from './der.ts'
import { hexOf } from './encoding.ts'

/**
 * A distinguished name in a form that is equal for equal names: the relative names in the order of the certificate, each
 * a sorted list of attributes.
 */
export type ComparableName = string

/** RFC 4514 section 3; RFC 4519; and names that OpenSSL prints. */
const attributeTypes: Readonly<Record<string, string>> = Object.assign(Object.create(null), {
  cn: '2.5.4.3',
  sn: '2.5.4.4',
  serialnumber: '2.5.4.5',
  c: '2.5.4.6',
  l: '2.5.4.7',
  st: '2.5.4.8',
  street: '2.5.4.9',
  o: '2.5.4.10',
  ou: '2.5.4.11',
  title: '2.5.4.12',
  businesscategory: '2.5.4.15',
  postalcode: '2.5.4.17',
  gn: '2.5.4.42',
  organizationidentifier: '2.5.4.97',
  uid: '0.9.2342.19200300.100.1.1',
  dc: '0.9.2342.19200300.100.1.25',
  emailaddress: '1.2.840.113549.1.9.1',
  e: '1.2.840.113549.1.9.1',
  jurisdictionc: '1.3.6.1.4.1.311.60.2.1.3',
})

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

interface Attribute {
  readonly type: string
  /** The text, or `#` and the DER in hexadecimal. A text that begins with `#` has two. */
  readonly value: string
}

/** Folds case, but never changes a letter outside ASCII to one of ASCII, such as the Kelvin sign to `k`. */
const folded = (text: string): string =>
  text.replace(/[A-Z]|[^\0-\x7f]/gu, (letter) => {
    const lower = letter.toLowerCase()
    return letter > '\x7f' && /[\0-\x7f]/u.test(lower) ? letter : lower
  })

/**
 * Returns a text that is equal for values that RFC 5280 section 7.1 treats as equal: case and repeated spaces do not
 * matter. Characters that only look the same remain different: no normalization as in RFC 4518 section 2.3, which turns
 * the Kelvin sign into a K.
 */
const comparableText = (text: string): string => {
  const value = folded(text).replace(/ +/gu, ' ').replace(/^ | $/gu, '')
  return value.startsWith('#') ? `#${value}` : value
}

const comparable = (relativeNames: readonly (readonly Attribute[])[]): ComparableName =>
  JSON.stringify(relativeNames.map((attributes) => attributes.map(({ type, value }) => `${type}=${value}`).sort()))

const asciiStrings: readonly number[] = [tags.printableString, tags.ia5String, tags.numericString, tags.visibleString]

/** Returns the text of a string; `undefined` for a value of another type. */
function textOf({ tag, content }: DerValue): string | undefined {
  if (tag === tags.utf8String) return utf8.decode(content)
  if (asciiStrings.includes(tag) && content.every((byte) => byte < 0x80)) return String.fromCharCode(...content)
  if (tag !== tags.bmpString || content.length % 2 !== 0) return undefined
  const units = Array.from({ length: content.length / 2 }, (_, index) => index * 2)
  return String.fromCharCode(...units.map((at) => (content[at] ?? 0) * 256 + (content[at + 1] ?? 0)))
}

/** Returns a text that is equal for equal values. @throws RangeError, TypeError for a malformed string. */
function comparableValue(value: DerValue | undefined): string {
  if (value === undefined) throw new RangeError('No value')
  const text = textOf(value)
  return text === undefined ? `#${hexOf(value.whole)}` : comparableText(text)
}

/** Reads the Name of a certificate. @throws RangeError, TypeError for a malformed one. */
export const nameIn = (name: DerValue): ComparableName =>
  comparable(
    contentOf(name, tags.sequence).map((relativeName) =>
      contentOf(relativeName, tags.set).map((attribute) => {
        const [type, value] = contentOf(attribute, tags.sequence)
        return { type: objectIdentifier(type), value: comparableValue(value) }
      }),
    ),
  )

// The characters of RFC 4514 section 3. Spaces around `=` and the separators have no meaning, as in RFC 2253 section 4.
const typeForm = / *([a-z][\da-z-]*|\d+(?:\.\d+)+) *= */iuy
const hexForm = /#((?:[\da-f]{2})+) */iuy
const stringForm = /(?!#)((?:\\(?:[ "#+,;<=>\\]|[\da-f]{2})|[^"+,;<>\\\0])*)/iuy
const separatorForm = /[,+]|$/uy

const octetsIn = (hex: string): Uint8Array =>
  Uint8Array.from(hex.match(/[\da-f]{2}/giu) ?? [], (octet) => Number.parseInt(octet, 16))

const unescaped = (text: string): string =>
  text.replace(/((?:\\[\da-f]{2})+)|\\(.)/giu, (_, octets: string | undefined, character: string) =>
    octets === undefined ? character : utf8.decode(octetsIn(octets)),
  )

/** Returns the value that the octets encode. @throws RangeError unless it is DER. */
function comparableDer(octets: Uint8Array): string {
  const [value, ...more] = readAll(octets)
  if (more.length > 0) throw new RangeError('Several values')
  return comparableValue(value)
}

/**
 * Reads the text of a distinguished name, which begins with the last relative name. Returns `undefined` if it is empty,
 * malformed, or names an attribute that is not known.
 *
 * @see RFC 4514
 */
export function parseName(text: string): ComparableName | undefined {
  let position = 0
  const read = (form: RegExp): string | undefined => {
    form.lastIndex = position
    const match = form.exec(text)
    if (match === null) return undefined
    position = form.lastIndex
    return match[1] ?? match[0]
  }

  const relativeNames: Attribute[][] = [[]]
  try {
    for (;;) {
      const name = read(typeForm)?.toLowerCase() ?? ''
      const type = /^\d/u.test(name) ? name : attributeTypes[name]
      const hex = read(hexForm)
      const value = hex ?? read(stringForm)
      const separator = read(separatorForm)
      if (type === undefined || value === undefined || separator === undefined) return undefined
      const text = hex === undefined ? comparableText(unescaped(value)) : comparableDer(octetsIn(hex))
      relativeNames[0]?.push({ type, value: text })
      if (separator === '') return comparable(relativeNames)
      if (separator === ',') relativeNames.unshift([])
    }
  } catch {
    // The octets are not UTF-8, or not DER.
    return undefined
  }
}
